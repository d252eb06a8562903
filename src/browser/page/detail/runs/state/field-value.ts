import { shown, toSentences } from "../../../../../base/failures/invalid-input.ts";
import type { SkillInput } from "../../../../wire/skills.ts";

/** What a field says: a value, nothing (the default, if there is one, is used), or what is wrong with it. */
type FieldValue = { readonly value?: unknown; readonly problem?: never } | { readonly problem: string };

/** What stands in the fields, by name. A choice is the index of its value; a boolean `true` or `false`; empty is not given. */
export type Drafts = Readonly<Record<string, string>>;

/** What `execute_skill` calls each type in its errors. */
const typeWords: Readonly<Record<SkillInput["type"], string>> = {
  string: "a string",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  array: "an array",
  blob: "a blob id, as create_blob returns it",
};

const blobId = /^blob:[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const numeral = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Reads one field as `execute_skill` would check it. */
export function readField(name: string, input: SkillInput, draft = ""): FieldValue {
  const { type, required = false, default: preset, enum: choices } = input;
  const text = type === "string" ? draft : draft.trim();
  if (text === "") {
    const isMissing = required && preset === undefined;
    return isMissing ? { problem: sentence(name, typeWords[type], null) } : {};
  }
  if (choices !== undefined) {
    const index = Number(text);
    return index in choices
      ? { value: choices[index] }
      : { problem: sentence(name, "one of the choices", shown(text)) };
  }
  const wrong = (): FieldValue => ({ problem: sentence(name, typeWords[type], shown(text)) });
  switch (type) {
    case "string":
      return { value: text };
    case "boolean":
      return text === "true" || text === "false" ? { value: text === "true" } : wrong();
    case "blob":
      return blobId.test(text) ? { value: text } : wrong();
    case "integer":
    case "number": {
      const value = numeral.test(text) ? Number(text) : Number.NaN;
      if (!Number.isFinite(value) || (type === "integer" && !Number.isInteger(value))) return wrong();
      if (type === "integer" && !Number.isSafeInteger(value))
        return { problem: `${name}: expected a whole number that JSON keeps exactly, at most 9007199254740991.` };
      return { value: Object.is(value, -0) ? 0 : value };
    }
    case "object":
    case "array": {
      const parsed = parseJsonInput(text);
      if ("fault" in parsed) {
        const { line, column, expected } = parsed.fault;
        return { problem: `${name} is not JSON: expected ${expected} at line ${line}, column ${column}.` };
      }
      const { value } = parsed;
      const isArray = Array.isArray(value);
      if (typeof value === "object" && value !== null && isArray === (type === "array")) return { value };
      return { problem: sentence(name, typeWords[type], shown(value)) };
    }
  }
}

/** The arguments, or the problems by field. */
export function readFormFields(
  inputs: Readonly<Record<string, SkillInput>>,
  drafts: Drafts,
): { readonly args: Readonly<Record<string, unknown>>; readonly problems: ReadonlyMap<string, string> } {
  const args: [string, unknown][] = [];
  const problems = new Map<string, string>();
  for (const [name, input] of Object.entries(inputs)) {
    const read = readField(name, input, Object.hasOwn(drafts, name) ? drafts[name] : "");
    if (read.problem !== undefined) problems.set(name, read.problem);
    else if (read.value !== undefined) args.push([name, read.value]);
  }
  return { args: Object.fromEntries(args), problems };
}

function sentence(name: string, expected: string, actual: unknown): string {
  return toSentences([{ field: name, expected, actual }], (field) => field).join(" ");
}

/** Where a text stops being JSON, and what could stand there. Lines and columns count from 1. */
interface JsonInputFault {
  readonly line: number;
  readonly column: number;
  readonly expected: string;
}

/** Parses what a person typed. Browsers name the place of an error differently, or not at all. */
export function parseJsonInput(text: string): { readonly value: unknown } | { readonly fault: JsonInputFault } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    const { offset, expected } = findFault(text);
    const before = text.slice(0, offset).split("\n");
    return { fault: { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, expected } };
  }
}

const blank = /[ \t\n\r]*/y;
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const scalar = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y;

type Expecting = "value" | "value or ]" | "key" | "key or }" | ":" | "next";

/** Not recursive: the text may be nested deeply. */
function findFault(text: string): { readonly offset: number; readonly expected: string } {
  const open: ("[" | "{")[] = [];
  let expecting: Expecting = "value";
  let offset = 0;
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = offset;
    const found = pattern.exec(text);
    offset += found?.[0].length ?? 0;
    return found !== null;
  };
  for (;;) {
    skip(blank);
    const character = text[offset] ?? "";
    const inside = open.at(-1);
    const closes = inside === "[" ? "]" : "}";
    const mayClose = expecting === "value or ]" || expecting === "key or }" || expecting === "next";
    if (inside !== undefined && character === closes && mayClose) {
      open.pop();
      offset += 1;
      expecting = "next";
    } else if (expecting === "next") {
      if (inside === undefined) return { offset, expected: "nothing more" };
      if (character !== ",") return { offset, expected: `a comma or ${closes}` };
      offset += 1;
      expecting = inside === "[" ? "value" : "key";
    } else if (expecting === ":") {
      if (character !== ":") return { offset, expected: "a colon" };
      offset += 1;
      expecting = "value";
    } else if (expecting === "key" || expecting === "key or }") {
      if (!skip(string)) return { offset, expected: expecting === "key" ? "a key in quotes" : "a key in quotes or }" };
      expecting = ":";
    } else if (character === "[" || character === "{") {
      open.push(character);
      offset += 1;
      expecting = character === "[" ? "value or ]" : "key or }";
    } else if (skip(string) || skip(scalar)) expecting = "next";
    else return { offset, expected: expecting === "value" ? "a value" : "a value or ]" };
  }
}
