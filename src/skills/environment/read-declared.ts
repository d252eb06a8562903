import { cutCodePoints } from "../../base/text/code-points.ts";
import { withoutControls } from "../../base/text/unsafe-characters.ts";
import { type Demand, type ProgramDemand, type Requirement, type System, isCommandName } from "./requirement.ts";

type Values = Readonly<Record<string, unknown>>;
/** Collects a demand, or quotes the text if it is not understood. */
type Add = (field: string, text: unknown, demand?: Demand) => void;
type Read = (field: string, value: unknown, add: Add) => void;

const file = "SKILL.md";
const maxQuoteLength = 200;
/** The maximum number of requirements of one skill; further ones are not read. */
const maxRequirements = 32;

/** The keys of a table of requirements, each with its reader; other keys are quoted. */
const requirementKeys: Readonly<Record<string, Read>> = {
  bins: readPrograms,
  programs: readPrograms,
  commands: readPrograms,
  anyBins: readAnyProgram,
  env: readVariables,
  env_vars: readVariables,
  os: readSystems,
  platforms: readSystems,
};

/** The keys that declare requirements. */
const declaring: readonly (readonly [key: string, read: Read])[] = Object.entries({
  requires: readTable,
  os: readSystems,
  platforms: readSystems,
  prerequisites: readTable,
  required_environment_variables: readVariables,
});

/**
 * Reads the requirements that frontmatter declares besides `compatibility`: `requires` with `bins`, `anyBins`, `env` and others, at the
 * top, in `metadata`, or in `metadata.<product>`; `os` and `platforms`; `prerequisites`; `required_environment_variables`; `dependencies`,
 * which is quoted, because it names no package manager. Undefined if there is nothing; never throws.
 */
export function readDeclared(values: Values): readonly Requirement[] | undefined {
  const found: Requirement[] = [];
  const add: Add = (field, text, demand) => {
    const where = { file, field, text: cutCodePoints(withoutControls(wordsOf(text)).trim(), maxQuoteLength) };
    if (demand !== undefined) found.push({ ...demand, certainty: "declared", where });
    else if (where.text !== "") found.push({ kind: "text", certainty: "unclear", where });
  };
  const readFrom = (prefix: string, table: Values): void => {
    for (const [key, read] of declaring) {
      const value = table[key];
      if (value !== undefined) read(prefix + key, value, add);
    }
    if (prefix === "" && table["dependencies"] !== undefined) add("dependencies", table["dependencies"]);
  };
  readFrom("", values);
  const metadata = tableOf(values["metadata"]);
  if (metadata !== undefined) readFrom("metadata.", metadata);
  for (const key in metadata) {
    const product = key === "requires" || key === "prerequisites" ? undefined : tableOf(metadata[key]);
    if (product !== undefined) readFrom(`metadata.${key}.`, product);
  }
  return found.length === 0 ? undefined : Object.freeze(found.slice(0, maxRequirements));
}

/** Reads a table of lists; quotes anything else. */
function readTable(field: string, value: unknown, add: Add): void {
  const table = tableOf(value);
  if (table === undefined) add(field, value);
  for (const [key, inner] of Object.entries(table ?? {}).slice(0, maxRequirements)) {
    const at = `${field}.${key}`;
    if (Object.hasOwn(requirementKeys, key)) requirementKeys[key]?.(at, inner, add);
    else add(at, inner);
  }
}

function readPrograms(field: string, value: unknown, add: Add): void {
  for (const text of listOf(value)) {
    const program = readProgram(text);
    add(field, text, program && { kind: "program", anyOf: [program] });
  }
}

function readAnyProgram(field: string, value: unknown, add: Add): void {
  const texts = listOf(value);
  const programs = texts.map(readProgram);
  if (texts.length === 0) return;
  const isRead = programs.every((program) => program !== undefined);
  add(field, texts, isRead ? { kind: "program", anyOf: programs } : undefined);
}

function readVariables(field: string, value: unknown, add: Add): void {
  for (const item of listOf(value)) {
    const name = typeof item === "string" ? item : tableOf(item)?.["name"];
    const isName = typeof name === "string" && /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name);
    add(field, name, isName ? { kind: "variable", variable: name } : undefined);
  }
}

function readSystems(field: string, value: unknown, add: Add): void {
  const texts = listOf(value);
  const systems = texts.map((text) => (typeof text === "string" ? readSystem(text) : undefined));
  const known = systems.filter((system): system is System => system !== undefined);
  if (texts.length === 0 || new Set(known).size === 3) return;
  add(field, texts, known.length === texts.length ? { kind: "system", anyOf: [...new Set(known)] } : undefined);
}

function readSystem(name: string): System | undefined {
  if (/^linux$/i.test(name)) return "linux";
  if (/^(?:mac ?os|os ?x|mac|darwin)$/i.test(name)) return "macos";
  return /^(?:windows|win32)$/i.test(name) ? "windows" : undefined;
}

/** Reads a command. With a version, as in `python3>=3.10`, it is quoted, because no program is run to find out its version. */
function readProgram(value: unknown): ProgramDemand | undefined {
  const command = typeof value === "string" ? value.trim() : "";
  return isCommandName(command) ? { name: command, commands: [command] } : undefined;
}

/** The items of a list, or the words of a string. */
function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return (value as unknown[]).slice(0, maxRequirements);
  if (typeof value !== "string" || value.length > 2048) return value === undefined || value === "" ? [] : [value];
  return value
    .split(/[\s,]+/)
    .filter((word) => word !== "")
    .slice(0, maxRequirements);
}

function tableOf(value: unknown): Values | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Values) : undefined;
}

/** A value in one line, as a user would write it. */
function wordsOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.slice(0, maxRequirements).map(wordsOf).join(", ");
  return value === undefined || value === null ? "" : JSON.stringify(value).slice(0, maxQuoteLength * 2);
}
