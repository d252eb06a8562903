import { readAllowedTools } from "./allowed-tools.ts";
import { maxCompatibilityLength, maxDescriptionLength } from "../rules/check-frontmatter.ts";
import type { ValueFault } from "../rules/check-frontmatter.ts";
import { countCodePoints, cutCodePoints, tooLong } from "../text/code-points.ts";
import { cleanValue, controlsIn, hasControls, stringsOf } from "../text/control-characters.ts";
import { findInvisible, invisibleIn } from "../text/invisible-characters.ts";
import type { Skill } from "../skill.ts";

type Values = Readonly<Record<string, unknown>>;
type Report = (fault: ValueFault) => void;

const noTags: readonly string[] = Object.freeze<string[]>([]);

const cleanedFields = ["description", "license", "compatibility", "allowed-tools", "metadata", "tags", "argument-hint"];

/** Removes control characters and Unicode tags from the fields sent to clients. Reports these and invisible characters. */
export function cleanFields(values: Values, report: Report): Values {
  const result = { ...values };
  for (const key of cleanedFields) {
    const text = stringsOf(values[key]);
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
    report({
      code: "description-missing",
      key: "description",
      message: "description is missing",
      fix: "Add `description:` with what the skill does and when to use it.",
    });
    return undefined;
  }
  return fitText("description", description, maxDescriptionLength, report);
}

/** The optional fields of a skill; absent if missing or invalid in the frontmatter. */
export type OptionalFields = Pick<
  Skill,
  "license" | "compatibility" | "allowedTools" | "disableModelInvocation" | "userInvocable" | "argumentHint"
>;

/** The normalised optional fields. Invalid values are removed and reported. */
export function readOptional(values: Values, report: Report): OptionalFields {
  const fields: { -readonly [Key in keyof OptionalFields]: OptionalFields[Key] } = {};
  const license = readText("license", values, maxLicenseLength, report);
  if (license !== undefined) fields.license = license;
  const compatibility = readText("compatibility", values, maxCompatibilityLength, report);
  if (compatibility !== undefined) fields.compatibility = compatibility;
  const tools = values["allowed-tools"];
  const allowedTools = tools === undefined ? undefined : readAllowedTools(tools);
  if (allowedTools !== undefined) fields.allowedTools = Object.freeze(fitTools(allowedTools, report));
  else if (tools !== undefined) {
    report({
      code: "allowed-tools-invalid",
      key: "allowed-tools",
      message: "allowed-tools is neither a string nor a list of strings; it is ignored",
      fix: "Write allowed-tools as names separated by spaces, or as a list of names.",
    });
  }
  if (readBoolean("disable-model-invocation", values, report) === true) fields.disableModelInvocation = true;
  if (readBoolean("user-invocable", values, report) === false) fields.userInvocable = false;
  const argumentHint = readArgumentHint(values["argument-hint"]);
  if (argumentHint !== undefined) fields.argumentHint = argumentHint;
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

/** YAML parses the common hint `[file]` as a list; the hint is the source text. */
function readArgumentHint(value: unknown): string | undefined {
  const isList = Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string");
  const text = isList ? `[${value.join(", ")}]` : nonBlank(value);
  return text && cutCodePoints(text.replace(/\s+/g, " "), maxHintLength);
}

/** Limits the number of tools. An overlong tool is ignored, because a truncated one could allow something else. */
function fitTools(tools: readonly string[], report: Report): string[] {
  const fitting = tools.filter((tool) => tool.length <= maxToolLength).slice(0, maxTools);
  const ignored = tools.length - fitting.length;
  if (ignored > 0) {
    report({
      code: "allowed-tools-too-long",
      key: "allowed-tools",
      message: `${ignored} of ${tools.length} allowed tools are ignored; the limit is ${maxTools} tools of ${maxToolLength} characters`,
      fix: "List fewer tools, or allow them with one pattern such as Bash(git *).",
    });
  }
  return fitting;
}

/** Tags as a list, or as a comma-separated string. */
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
