import { parse, TomlError } from "smol-toml";
import type { core } from "zod";
import { isChoice, isOfType } from "./argument-type.ts";
import { countCodePoints, cutCodePoints } from "../text/code-points.ts";
import { maxDescriptionLength } from "../rules/check-frontmatter.ts";
import { cleanValue, controlsIn, hasControls, stringsOf, withoutControls } from "../text/control-characters.ts";
import { fitFaults } from "../rules/fit-faults.ts";
import { findInvisible, invisibleIn, withoutTags } from "../text/invisible-characters.ts";
import { manifestReason } from "./manifest-reason.ts";
import { manifestKeys, manifestSchema } from "./manifest.ts";
import type { Manifest } from "./manifest.ts";
import type { ManifestReading } from "./parse-skill.ts";
import { explainNetworkEntry } from "./permission-entries.ts";
import { hideProtoKeys, showProtoKey, showProtoKeys } from "../yaml/proto-keys.ts";
import { rules } from "../rules/rules.ts";
import type { Finding, RuleCode } from "../rules/rules.ts";
import { openTomlPositions } from "../text/toml-positions.ts";

type Path = readonly (string | number)[];
type Add = (code: RuleCode, path: Path, message: string, fix: string) => void;

const maxTags = 20;
/** Deeper values would exhaust the stack of whoever walks through them. */
const maxDepth = 32;
/** More take long to check, and are no manifest. */
const maxValues = 2000;

/**
 * Reads the text of a `skill.toml` (C-1.4). Never throws. There is a manifest, deeply frozen, unless a finding is an error
 * at level `lenient`. Loads a schema library: import it only where a `skill.toml` was found.
 */
export function readManifest(text: string, file: string): ManifestReading {
  let data: Record<string, unknown>;
  try {
    data = parse(text.replace(/^\ufeff/, ""), { maxDepth });
    const reason = excess(data);
    if (reason !== undefined) throw new Error(`not valid here: ${reason}`);
  } catch (error) {
    return { findings: [syntaxFinding(error, text, file)] };
  }
  if (isForeign(data)) {
    const position = openTomlPositions(text)(["skill"]);
    const message = "skill.toml is none of the Skills Protocol, which has name, version and kind outside any table";
    const fix = "Nothing, if another program reads it; else move the keys out of [skill].";
    return { isForeign: true, findings: [{ code: "manifest-foreign", file, ...position, message, fix }] };
  }
  const faults: { code: RuleCode; path: Path; message: string; fix: string }[] = [];
  const add: Add = (code, path, message, fix) => {
    faults.push({ code, path, message, fix });
  };
  reportUnknownKeys(data, add);
  const result = manifestSchema.safeParse(hideProtoKeys(normalised(data, add)));
  for (const issue of result.error?.issues ?? []) {
    const path = issue.path.filter((segment) => typeof segment !== "symbol").map(showProtoKey);
    const rule: unknown = issue.code === "custom" ? issue.params?.rule : undefined;
    if (isRule(rule)) add(rule, path, issue.message, String(issue.code === "custom" && issue.params?.fix));
    else reportShape(path, data, issue, add);
  }
  const manifest = showProtoKeys(result.data);
  if (manifest !== undefined) reportDefaults(manifest, add);
  const positionOf = openTomlPositions(text);
  const findings = fitFaults(faults).map(({ code, path, message, fix }): Finding => ({
    code,
    file,
    ...positionOf(path),
    message,
    fix,
  }));
  findings.sort((a, b) => a.line - b.line || a.column - b.column);
  return manifest === undefined ? { findings } : { manifest: deepFreeze(manifest), findings };
}

const fixes: Readonly<Record<string, string>> = {
  name: "Write lowercase letters and digits in segments joined by dots, such as sales.leads.sync.",
  version: 'Write a semantic version, such as "1.0.0".',
  kind: 'Write "action" or "instruction".',
  description: "Say in at most 1024 characters what the skill does and when to use it.",
  namespace: "Write lowercase letters and digits in segments joined by dots.",
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
  } else if (name.startsWith("permissions.secrets.")) {
    const fix = "Use letters, digits and underscores, such as API_KEY.";
    add("manifest-secret-invalid", path, `${shown} is not the name of a secret`, fix);
  } else if (name.startsWith("dependencies.skills.")) {
    add("manifest-dependency-invalid", path, `${shown} is not a skill with its version`, "Write it as a.b@^1.");
  } else if (name === "name" && typeof value === "string" && value.length > 64) {
    add(
      "manifest-name-too-long",
      path,
      `the name has ${value.length} characters, at most 64 count`,
      "Shorten the name.",
    );
  } else {
    const reason = manifestReason(name, value, issue);
    add("manifest-field-invalid", path, `${name} ${reason}`, fixes[name] ?? `Correct ${name}.`);
  }
}

/** What is only too long is cut, and what nobody should be sent taken out, so that the skill is still offered (C-1.5). */
function normalised(data: Record<string, unknown>, add: Add): Record<string, unknown> {
  const result = { ...data };
  for (const [key, value] of Object.entries(data)) {
    const text = stringsOf(value);
    const isSent = key === "description" || key === "tags";
    const invisible = findInvisible(text);
    if (invisible !== undefined) add("invisible-characters", [key], ...invisibleIn(key, invisible));
    if (isSent && hasControls(text)) add("control-characters", [key], ...controlsIn(key));
    result[key] = cleanValue(value, isSent ? withoutControls : withoutTags).value;
  }
  const { description, tags } = result;
  const length = typeof description === "string" ? countCodePoints(description.trim()) : 0;
  if (typeof description === "string" && length > maxDescriptionLength) {
    const message = `the description has ${length} characters, at most ${maxDescriptionLength} count`;
    add("description-too-long", ["description"], message, "Shorten it, and move the rest into SKILL.md.");
    result.description = cutCodePoints(description.trim(), maxDescriptionLength);
  }
  if (Array.isArray(tags) && tags.length > maxTags) {
    const message = `there are ${tags.length} tags; the first ${maxTags} count`;
    add("manifest-tags-too-many", ["tags"], message, `Keep at most ${maxTags} tags.`);
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
      const message = `skill.toml has no key ${name}; it is kept as it is`;
      add("manifest-key-unknown", [...path, key], message, "Check its spelling, or remove it.");
    }
  };
  for (const [table, known] of Object.entries(manifestKeys)) {
    const [first = "", any] = table.split(".");
    const outer = first === "" ? data : data[first];
    if (any === undefined) check(first === "" ? [] : [first], outer, known);
    else if (isTable(outer)) for (const [name, inner] of Object.entries(outer)) check([first, name], inner, known);
  }
}

/** A default that is refused as an argument would be: whoever leaves the argument out is told of what he did not give. */
function reportDefaults({ inputs = {} }: Manifest, add: Add): void {
  for (const [name, argument] of Object.entries(inputs)) {
    const { type, default: preset } = argument;
    if (preset === undefined || (isOfType(preset, type) && isChoice(preset, argument))) continue;
    const shape = isOfType(preset, type) ? "one of its enum" : `of the type ${type}`;
    const message = `the default of ${name}, ${JSON.stringify(preset)}, is not ${shape}`;
    add("manifest-default-invalid", ["inputs", name, "default"], message, "Correct or remove it.");
  }
}

function isTable(value: unknown): value is Record<string | number, unknown> {
  return typeof value === "object" && value !== null;
}

function isRule(code: unknown): code is RuleCode {
  return typeof code === "string" && Object.hasOwn(rules, code);
}

/** Whether a file of that name is another program's, which keeps what it knows in a table `[skill]`. */
function isForeign(data: Record<string, unknown>): boolean {
  const ours = ["name", "version", "kind", "description"];
  return isTable(data.skill) && !Array.isArray(data.skill) && ours.every((key) => data[key] === undefined);
}

/** Why a document is not even looked at; the parser counts neither values nor the dots of a key. */
function excess(data: unknown): string | undefined {
  let level = [data];
  let count = 0;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return "tables are nested too deeply";
    level = level.filter((value) => isTable(value)).flatMap((table) => Object.values(table));
    count += level.length;
    if (count > maxValues) return `there are more than ${maxValues} values`;
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
    message: reason.replace(/^Invalid TOML document: /, "not valid TOML: "),
    fix: "Correct the line; strings stand in quotes, tables in [brackets].",
  };
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
