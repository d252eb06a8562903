import { TomlError, parse } from "smol-toml";
import type { core } from "zod";
import { countCodePoints, cutCodePoints, inDigits, tooLong } from "../../base/text/code-points.ts";
import { maxDescriptionLength } from "./check-document.ts";
import {
  cleanValue,
  controlsIn,
  hasControls,
  joinedStrings,
  withoutControls,
  findInvisible,
  invisibleIn,
  withoutTags,
} from "../../base/text/unsafe-characters.ts";
import { type Manifest, manifestKeys, manifestSchema } from "./manifest-schema.ts";
import type { ManifestReading } from "./parse-skill.ts";
import { explainNetworkEntry, withoutSandbox } from "../permissions.ts";
import { faultsOfSecrets } from "../permissions/secret-use.ts";
import { type Finding, type RuleCode, fitFaults, isRule } from "../rules.ts";
import { createTomlPositions } from "./toml-positions.ts";
import { isChoice, isOfType } from "../manifest.ts";

type Path = readonly (string | number)[];
type Add = (code: RuleCode, path: Path, message: string, fix: string, part?: "key") => void;

const maxTags = 20;
/** The maximum nesting; deeper values could overflow the stack. */
const maxDepth = 32;
/** Maximum number of values, which bounds the time to validate them. */
const maxValues = 2000;

/**
 * Reads the text of a `skill.toml`. Never throws. Returns a deeply frozen manifest unless a finding is an error at level `lenient`. Loads
 * a schema library, so import this module only after a `skill.toml` was found.
 */
export function readManifest(text: string, file: string): ManifestReading {
  let data: Record<string, unknown>;
  try {
    data = parse(text.replace(/^\ufeff/, ""), { maxDepth });
    const reason = excess(data);
    if (reason !== undefined) throw new Error(`invalid TOML: ${reason}`);
  } catch (error) {
    return { findings: [syntaxFinding(error, text, file)] };
  }
  if (isForeign(data)) {
    const position = createTomlPositions(text)(["skill"]);
    const message = "skill.toml is not a Skills Protocol manifest; it is ignored";
    const fix = "If it is meant as one, move name, version and kind out of [skill] to the top level.";
    return { isForeign: true, findings: [{ code: "manifest-foreign", file, ...position, message, fix }] };
  }
  const faults: { code: RuleCode; path: Path; message: string; fix: string; part?: "key" | undefined }[] = [];
  const add: Add = (code, path, message, fix, part) => {
    faults.push({ code, path, message, fix, part });
  };
  reportUnknownKeys(data, add);
  const { data: manifest, error } = manifestSchema.safeParse(normalised(data, add));
  const { secrets } = isTable(data.permissions) ? data.permissions : {};
  for (const { code, at, message, fix } of faultsOfSecrets(secrets))
    add(code, ["permissions", "secrets", ...at], message, fix);
  for (const issue of error?.issues ?? []) {
    const path = issue.path.filter((segment) => typeof segment !== "symbol");
    if (Array.isArray(secrets) && path.join(".").startsWith("permissions.secrets")) continue;
    const { rule, fix }: { rule?: unknown; fix?: unknown } = (issue.code === "custom" && issue.params) || {};
    if (isRule(rule)) add(rule, path, issue.message, String(fix));
    else reportShape(path, data, issue, add);
  }
  if (manifest !== undefined) reportDefaults(manifest, add);
  if (manifest?.permissions?.isolation !== undefined) {
    add(withoutSandbox.code, ["permissions", "isolation"], withoutSandbox.message, withoutSandbox.fix);
  }
  const positionOf = createTomlPositions(text);
  const findings = fitFaults(faults).map(({ code, path, message, fix, part }): Finding => {
    return { code, file, ...positionOf(path, part), message, fix };
  });
  findings.sort((a, b) => a.line - b.line || a.column - b.column);
  return manifest === undefined ? { findings } : { manifest: deepFreeze(manifest), findings };
}

const fixes: Readonly<Record<string, string>> = {
  name: "Write lowercase letters and digits in segments joined by dots, such as sales.leads.sync.",
  version: 'Write a semantic version, such as "1.0.0".',
  kind: 'Write "action" or "instruction".',
  description: "Say in at most 1,024 characters what the skill does and when to use it.",
  namespace: "Write lowercase letters and digits in segments joined by dots.",
  "permissions.isolation": 'Write "none", or remove it: by default code runs in the sandbox.',
};

function reportShape(path: Path, data: Record<string, unknown>, issue: core.$ZodIssue, add: Add): void {
  const name = path.join(".");
  const value = path.reduce<unknown>((inner, key) => (isTable(inner) ? inner[key] : undefined), data);
  const shown = JSON.stringify(value);
  if (value === undefined) {
    add("manifest-field-missing", path, `${name} is missing`, fixes[name] ?? `Add ${name}.`);
  } else if (name.startsWith("permissions.network.")) {
    const { what, fix } = explainNetworkEntry(value);
    add("manifest-network-invalid", path, what, fix);
  } else if (name.startsWith("dependencies.skills.")) {
    const message = `${shown} is not a skill name with a version range`;
    add("manifest-dependency-invalid", path, message, "Use the form a.b@^1.");
  } else if (name === "name" && typeof value === "string" && value.length > 64) {
    add("manifest-name-too-long", path, tooLong("name", value.length, 64), "Shorten the name.");
  } else {
    const reason = manifestReason(value, issue);
    add("manifest-field-invalid", path, `${name} ${reason}`, fixes[name] ?? `Correct ${name}.`);
  }
}

/** Truncates overlong text and removes control characters and Unicode tags, so that the skill is still offered. */
function normalised(data: Record<string, unknown>, add: Add): Record<string, unknown> {
  const result = { ...data };
  for (const [key, value] of Object.entries(data)) {
    const text = joinedStrings(value);
    const isSent = key === "description" || key === "tags";
    const invisible = findInvisible(text);
    if (invisible !== undefined) add("invisible-characters", [key], ...invisibleIn(key, invisible));
    if (isSent && hasControls(text)) add("control-characters", [key], ...controlsIn(key));
    result[key] = cleanValue(value, isSent ? withoutControls : withoutTags).value;
  }
  const { description, tags } = result;
  const length = typeof description === "string" ? countCodePoints(description.trim()) : 0;
  if (typeof description === "string" && length > maxDescriptionLength) {
    const message = tooLong("description", length, maxDescriptionLength);
    add("description-too-long", ["description"], message, "Shorten it, and move the rest into SKILL.md.");
    result.description = cutCodePoints(description.trim(), maxDescriptionLength);
  }
  if (Array.isArray(tags) && tags.length > maxTags) {
    const message = `${inDigits(tags.length)} tags; the limit is ${maxTags}, and the rest are ignored`;
    add("manifest-tags-too-many", ["tags"], message, "Remove the least useful ones.");
    result.tags = tags.slice(0, maxTags);
  }
  return result;
}

function reportUnknownKeys(data: Record<string, unknown>, add: Add): void {
  const check = (path: Path, table: unknown, known: readonly string[]): void => {
    if (!isTable(table) || Array.isArray(table)) return;
    for (const key of Object.keys(table)) {
      if (known.includes(key)) continue;
      const name = [...path, key].join(".");
      const message = `unknown key \`${name}\` in skill.toml`;
      add("manifest-key-unknown", [...path, key], message, "Check its spelling, or remove it.", "key");
    }
  };
  for (const [table, known] of Object.entries(manifestKeys)) {
    const path = table.split(".").filter((part) => part !== "");
    const isAny = path.at(-1) === "*";
    const parent = isAny ? path.slice(0, -1) : path;
    const outer = parent.reduce<unknown>((inner, key) => (isTable(inner) ? inner[key] : undefined), data);
    if (!isAny) check(parent, outer, known);
    else if (isTable(outer)) for (const [name, inner] of Object.entries(outer)) check([...parent, name], inner, known);
  }
}

/** Reports defaults that are not valid arguments. */
function reportDefaults({ inputs = {} }: Manifest, add: Add): void {
  for (const [name, argument] of Object.entries(inputs)) {
    const { type, default: preset } = argument;
    if (preset === undefined || (isOfType(preset, type) && isChoice(preset, argument))) continue;
    const shape = isOfType(preset, type) ? "one of its enum" : `of type ${type}`;
    const message = `default of \`${name}\` is ${JSON.stringify(preset)}, which is not ${shape}`;
    add("manifest-default-invalid", ["inputs", name, "default"], message, "Correct it, or remove it.");
  }
}

function isTable(value: unknown): value is Record<string | number, unknown> {
  return typeof value === "object" && value !== null;
}

/** Whether the file belongs to another program, which uses a table `[skill]` for its keys. */
function isForeign(data: Record<string, unknown>): boolean {
  const ours = ["name", "version", "kind", "description"];
  return isTable(data.skill) && !Array.isArray(data.skill) && ours.every((key) => data[key] === undefined);
}

/**
 * Why a document is rejected before validation; undefined if it is not. The parser limits neither the number of values nor the segments of
 * a key, and the schema library drops a key `__proto__`.
 */
function excess(data: unknown): string | undefined {
  let level = [data];
  let count = 0;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return "tables are nested too deeply";
    const tables = level.filter((value) => isTable(value));
    if (tables.some((table) => Object.hasOwn(table, "__proto__"))) return "a key must not be __proto__";
    level = tables.flatMap((table) => Object.values(table));
    count += level.length;
    if (count > maxValues) return `more than ${inDigits(maxValues)} values`;
  }
  return undefined;
}

function syntaxFinding(error: unknown, text: string, file: string): Finding {
  const known = error instanceof TomlError;
  const line = known ? Math.max(error.line, 1) : 1;
  const before = (text.split("\n")[line - 1] ?? "").slice(0, known ? Math.max(error.column - 1, 0) : 0);
  const reason =
    (known ? error.message.split("\n", 1)[0] : undefined) ?? (error instanceof Error ? error.message : String(error));
  return {
    code: "manifest-syntax",
    file,
    line,
    column: countCodePoints(before) + 1,
    message: reason.replace(/^Invalid TOML document: /, "invalid TOML: "),
    fix: "Correct the line; strings need quotes, tables [brackets].",
  };
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}

const types: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  object: "a table",
  record: "a table",
  string: "a string",
};

/** Why a value of a manifest is invalid, as the end of a sentence that starts with its name. */
function manifestReason(value: unknown, issue: core.$ZodIssue): string {
  const shown = JSON.stringify(value);
  if (issue.code === "invalid_type") return `is ${shown}, not ${types[issue.expected] ?? issue.expected}`;
  if (issue.code === "invalid_value")
    return `is ${shown}, not ${issue.values.map((allowed) => JSON.stringify(allowed)).join(" or ")}`;
  if (issue.code === "too_small" && issue.origin !== "string") return `is ${shown}; the minimum is ${issue.minimum}`;
  return issue.code === "too_small" ? "is empty" : `is ${shown}, which is not valid`;
}
