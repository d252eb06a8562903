import { readAllowedTools } from "./allowed-tools.ts";
import { maxCompatibilityLength, maxDescriptionLength } from "../rules/check-frontmatter.ts";
import type { ValueFault } from "../rules/check-frontmatter.ts";
import { countCodePoints, cutCodePoints } from "../text/code-points.ts";
import { cleanValue, controlsIn, hasControls, stringsOf } from "../text/control-characters.ts";
import { findInvisible, invisibleIn } from "../text/invisible-characters.ts";
import type { Skill } from "../skill.ts";

type Values = Readonly<Record<string, unknown>>;
type Report = (fault: ValueFault) => void;

const noTags: readonly string[] = Object.freeze<string[]>([]);

const cleanedFields = ["description", "license", "compatibility", "allowed-tools", "metadata", "tags", "argument-hint"];

/** The values without control characters and tags in the fields that are sent on; each field that had some, or what cannot be seen, is reported. */
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

/** The description as it can be offered; undefined, and reported, where there is none. */
export function readDescription(values: Values, report: Report): string | undefined {
  const description = nonBlank(values.description);
  if (description === undefined) {
    report({
      code: "description-missing",
      key: "description",
      message: "there is no description",
      fix: "Add description: with what the skill does and when to use it.",
    });
    return undefined;
  }
  if (description.length <= maxDescriptionLength) return description;
  const length = countCodePoints(description);
  if (length > maxDescriptionLength) {
    report({
      code: "description-too-long",
      key: "description",
      message: `the description has ${length} characters, at most ${maxDescriptionLength} count`,
      fix: "Shorten it, and move the rest below the frontmatter.",
    });
  }
  return cutCodePoints(description, maxDescriptionLength);
}

/** The optional fields of a skill; absent where the frontmatter has none that can be offered. */
export type OptionalFields = Pick<
  Skill,
  "license" | "compatibility" | "allowedTools" | "disableModelInvocation" | "userInvocable" | "argumentHint"
>;

/** The optional fields as they can be offered; what cannot be is left out and reported. */
export function readOptional(values: Values, report: Report): OptionalFields {
  const fields: { -readonly [Key in keyof OptionalFields]: OptionalFields[Key] } = {};
  const license = nonBlank(values.license);
  if (license === undefined && isPresent(values.license)) {
    report({
      code: "license-not-a-string",
      key: "license",
      message: "the license is not a string; it is left out",
      fix: "Write the license's name or the name of its file.",
    });
  }
  if (license !== undefined) {
    reportLength("license", license, maxLicenseLength, report);
    fields.license = cutCodePoints(license, maxLicenseLength);
  }
  const compatibility = nonBlank(values.compatibility);
  if (compatibility === undefined && isPresent(values.compatibility)) {
    report({
      code: "compatibility-not-a-string",
      key: "compatibility",
      message: "compatibility is not a string; it is left out",
      fix: "Write it as one sentence.",
    });
  }
  if (compatibility !== undefined) {
    reportLength("compatibility", compatibility, maxCompatibilityLength, report);
    fields.compatibility = cutCodePoints(compatibility, maxCompatibilityLength);
  }
  const tools = values["allowed-tools"];
  const allowedTools = tools === undefined ? undefined : readAllowedTools(tools);
  if (tools !== undefined && allowedTools === undefined) {
    report({
      code: "allowed-tools-invalid",
      key: "allowed-tools",
      message: "allowed-tools is neither a string nor a list of strings; it is left out",
      fix: "Write allowed-tools as names separated by blanks, or as a list of names.",
    });
  }
  if (allowedTools !== undefined) fields.allowedTools = Object.freeze(fitTools(allowedTools, report));
  if (readBoolean(values["disable-model-invocation"]) === true) fields.disableModelInvocation = true;
  if (readBoolean(values["user-invocable"]) === false) fields.userInvocable = false;
  const argumentHint = readArgumentHint(values["argument-hint"]);
  if (argumentHint !== undefined) fields.argumentHint = argumentHint;
  return fields;
}

function readBoolean(value: unknown): boolean | undefined {
  const text = typeof value === "string" ? value.trim().toLowerCase() : "";
  return text === "true" ? true : text === "false" ? false : undefined;
}

/** To YAML, the usual hint `[file]` is a list: it is shown as it was written. */
function readArgumentHint(value: unknown): string | undefined {
  const isList = Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string");
  const text = isList ? `[${value.join(", ")}]` : nonBlank(value);
  return text && cutCodePoints(text.replace(/\s+/g, " "), maxHintLength);
}

const maxHintLength = 256;
const maxLicenseLength = 500;
const maxTools = 128;
const maxToolLength = 256;

function reportLength(key: "license" | "compatibility", text: string | undefined, most: number, report: Report): void {
  if (text === undefined || text.length <= most) return;
  const length = countCodePoints(text);
  if (length <= most) return;
  report({
    code: `${key}-too-long`,
    key,
    message: `${key === "license" ? "the license" : key} has ${length} characters, at most ${most} count`,
    fix: "Shorten it, and move the rest below the frontmatter.",
  });
}

/** As many tools as are sent on; one that is too long is left out, for a part of it would allow something else. */
function fitTools(tools: readonly string[], report: Report): string[] {
  const fitting = tools.filter((tool) => tool.length <= maxToolLength).slice(0, maxTools);
  if (fitting.length < tools.length) {
    report({
      code: "allowed-tools-too-long",
      key: "allowed-tools",
      message: `allowed-tools has more than ${maxTools} tools, or one of more than ${maxToolLength} characters; ${tools.length - fitting.length} of ${tools.length} are left out`,
      fix: "Name fewer tools, or allow them with one pattern such as Bash(git *).",
    });
  }
  return fitting;
}

/** Tags as a list, or as one string with commas. */
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

function isPresent(value: unknown): boolean {
  return value !== undefined && typeof value !== "string";
}

/** A string's text without the blanks around it; undefined for anything else. */
export function nonBlank(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return value.trim() || undefined;
}
