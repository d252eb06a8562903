import { readDeclared } from "../environment/read-declared.ts";
import { type ValueFault, agentTables, maxCompatibilityLength, maxDescriptionLength } from "./check-document.ts";
import { countCodePoints, cutCodePoints, inDigits, tooLong } from "../../base/text/code-points.ts";
import {
  cleanValue,
  controlsIn,
  hasControls,
  joinedStrings,
  findInvisible,
  invisibleIn,
} from "../../base/text/unsafe-characters.ts";
import { isObject } from "../../base/json/json-value.ts";
import type { Skill } from "../skill.ts";

type Values = Readonly<Record<string, unknown>>;
type Report = (fault: ValueFault) => void;

const noTags: readonly string[] = Object.freeze<string[]>([]);

const cleanedFields = ["description", "license", "compatibility", "allowed-tools", "metadata", "tags", "argument-hint"];

/** Removes control characters and Unicode tags from the fields that are sent to clients. Reports them, and other invisible characters. */
export function cleanFields(values: Values, report: Report): Values {
  const result = { ...values };
  for (const key of cleanedFields) {
    const text = joinedStrings(values[key]);
    const invisible = findInvisible(text);
    if (hasControls(text)) {
      const [message, fix] = controlsIn(key);
      report({ code: "control-characters", key, message, fix });
    } else if (invisible === undefined) {
      continue;
    }
    if (invisible !== undefined) {
      const [message, fix] = invisibleIn(key, invisible);
      report({ code: "invisible-characters", key, sought: invisible.character, message, fix });
    }
    result[key] = cleanValue(values[key]).value;
  }
  return result;
}

/** The normalised description; undefined, and reported, if it is missing. */
export function readDescription(values: Values, report: Report): string | undefined {
  const description = nonBlank(values.description);
  if (description === undefined) {
    const fix = "Add `description:` with what the skill does and when to use it.";
    report({ code: "description-missing", key: "description", message: "description is missing", fix });
    return undefined;
  }
  return fitText("description", description, maxDescriptionLength, report);
}

/** The normalised optional fields. Missing and invalid fields are absent; invalid ones are reported. */
export function readOptional(values: Values, report: Report): Partial<Skill> {
  const fields: { -readonly [Name in keyof Skill]?: Skill[Name] } = {};
  const set = <Name extends keyof Skill>(name: Name, value: Skill[Name] | undefined): void => {
    if (value !== undefined) fields[name] = value;
  };
  set("license", readText("license", values, maxLicenseLength, report));
  set("compatibility", readText("compatibility", values, maxCompatibilityLength, report));
  set("requires", readDeclared(values));
  set("allowedTools", readAllowedTools(values["allowed-tools"], report));
  if (readBoolean("disable-model-invocation", values, report) === true) fields.disableModelInvocation = true;
  if (readBoolean("user-invocable", values, report) === false) fields.userInvocable = false;
  set("argumentHint", readArgumentHint(values["argument-hint"]));
  return fields;
}

const maxLicenseLength = 500;
const maxHintLength = 256;
const maxTools = 128;
const maxToolLength = 256;

function readText(key: "license" | "compatibility", values: Values, limit: number, report: Report): string | undefined {
  const value = values[key];
  const text = nonBlank(value);
  if (text !== undefined) return fitText(key, text, limit, report);
  if (value !== undefined && typeof value !== "string") {
    const message = `${key} is not a string; it is ignored`;
    report({ code: `${key}-not-a-string`, key, message, fix: "Write it as one line of text." });
  }
  return undefined;
}

function fitText(
  key: "description" | "license" | "compatibility",
  text: string,
  limit: number,
  report: Report,
): string {
  const length = text.length <= limit ? 0 : countCodePoints(text);
  if (length <= limit) return text;
  const fix = "Shorten it, and move the rest below the frontmatter.";
  report({ code: `${key}-too-long`, key, message: tooLong(key, length, limit), fix });
  return cutCodePoints(text, limit);
}

function readBoolean(key: string, values: Values, report: Report): boolean | undefined {
  const value = values[key];
  const text = typeof value === "string" ? value.trim().toLowerCase() : undefined;
  if (text === "true" || text === "false") return text === "true";
  if (value !== undefined && text !== "") {
    const message = `${key} is neither true nor false; it is ignored`;
    // At level `spec`, the key itself is the problem.
    report({ code: "field-not-boolean", key, message, fix: "Write true or false.", allowedAt: ["spec"] });
  }
  return undefined;
}

/** Reads the hint as its source text. YAML parses the common hint `[file]` as a list. */
function readArgumentHint(value: unknown): string | undefined {
  const isList = Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string");
  const text = isList ? `[${value.join(", ")}]` : nonBlank(value);
  return text && cutCodePoints(text.replace(/\s+/g, " "), maxHintLength);
}

/** Reads tags from a list or a comma-separated string. */
export function readTags(value: unknown): readonly string[] {
  const tags = typeof value === "string" ? value.split(",") : Array.isArray(value) ? value : noTags;
  if (tags.length === 0) return noTags;
  return Object.freeze(
    tags
      .filter((tag): tag is string => typeof tag === "string")
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ""),
  );
}

/** The trimmed string; undefined for any other value. */
export function nonBlank(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return value.trim() || undefined;
}

/**
 * Reads `allowed-tools`: a string split at whitespace and commas outside parentheses, or a list of entries, used unchanged. An overlong
 * entry is ignored, because a truncated one could allow something else.
 */
function readAllowedTools(value: unknown, report: Report): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const key = "allowed-tools";
  const isList = Array.isArray(value) && value.every((item): item is string => typeof item === "string");
  if (typeof value !== "string" && !isList) {
    const message = "allowed-tools is neither a string nor a list of strings; it is ignored";
    const fix = "Write allowed-tools as names separated by spaces, or as a list of names.";
    report({ code: "allowed-tools-invalid", key, message, fix });
    return undefined;
  }
  const tools = isList ? value.map((item) => item.trim()).filter((item) => item !== "") : splitTools(value);
  const fitting = tools.filter((tool) => tool.length <= maxToolLength).slice(0, maxTools);
  if (fitting.length < tools.length) {
    const ignored = `${tools.length - fitting.length} of ${tools.length} allowed tools are ignored`;
    const message = `${ignored}; the limit is ${maxTools} tools of ${maxToolLength} characters`;
    const fix = "List fewer tools, or allow them with one pattern such as Bash(git *).";
    report({ code: "allowed-tools-too-long", key, message, fix });
  }
  return Object.freeze(fitting);
}

function splitTools(text: string): string[] {
  if (!text.includes("(")) return text.split(/[\s,]+/).filter((tool) => tool !== "");
  const tools: string[] = [];
  let [depth, start] = [0, 0];
  // The added comma ends the last tool.
  for (const [index, character] of [...`${text},`.split("")].entries()) {
    if (character === "(") depth++;
    else if (character === ")") depth = Math.max(0, depth - 1);
    else if ((depth === 0 && /[\s,]/.test(character)) || index === text.length) {
      const tool = text.slice(start, index).trim();
      if (tool !== "") tools.push(tool);
      start = index + 1;
    }
  }
  return tools;
}

const noMetadata: Readonly<Record<string, string>> = Object.freeze({});

/** The limits of metadata. Longer values are ignored, not truncated, because a truncated list of hosts could end with a different host. */
const maxEntries = 64;
const maxKeyLength = 128;
const maxValueLength = 2048;

/** The `metadata` of frontmatter as strings. Nested and overlong values are ignored and reported. */
export function readMetadata(value: unknown, report: Report): Readonly<Record<string, string>> {
  if (value === undefined || value === "") return noMetadata;
  const key = "metadata";
  if (!isObject(value)) {
    const fix = "Write metadata as indented lines of the form `key: value`.";
    report({ code: "metadata-not-a-mapping", key, message: "metadata is not a mapping; it is ignored", fix });
    return noMetadata;
  }
  const metadata: Record<string, string> = {};
  const entries = Object.entries(value);
  const tooMuch = (what: string, child?: string): void => {
    const fix = "Shorten it, or move what is only for people below the frontmatter.";
    report({ code: "metadata-too-long", key, ...(child !== undefined && { child }), message: `${what} ignored`, fix });
  };
  if (entries.length > maxEntries)
    tooMuch(`metadata has ${inDigits(entries.length)} entries; the limit is ${maxEntries}, and the rest are`);
  for (const [child, entry] of entries.slice(0, maxEntries)) {
    if (typeof entry !== "string") {
      const isRead = readDeclared({ metadata: { [child]: entry } }) !== undefined;
      const message = `metadata.${child} is not a string; ${isRead ? "only what it requires is read" : "it is ignored"}`;
      const fix = `Write metadata.${child} as one string.`;
      const isForAgents = isRead || (agentTables.has(child) && isObject(entry));
      report({
        code: "metadata-nested-value",
        key,
        child,
        message,
        fix,
        ...(isForAgents && { allowedAt: ["agents"] }),
      });
    } else if (child.length > maxKeyLength) {
      tooMuch(`${tooLong("metadata key", child.length, maxKeyLength)}; it is`, child);
    } else if (entry.length > maxValueLength) {
      tooMuch(`${tooLong(`metadata.${child}`, entry.length, maxValueLength)}; it is`, child);
    } else {
      // An assignment of `__proto__` would set the prototype.
      Object.defineProperty(metadata, child, { value: entry, enumerable: true });
    }
  }
  return Object.freeze(metadata);
}
