import { SkillsError } from "../errors.ts";

/** One violation of a tool's input schema. */
export interface Violation {
  /** A JSON pointer into the parameters. */
  readonly field: string;
  readonly expected: string;
  /** The value, or its type if it is long; null if missing. */
  readonly actual: unknown;
}

/** The `expected` of a parameter that the tool does not have. */
export const noSuchParameter = "no such parameter";

/** The VALIDATION_ERROR for invalid input; its message lists the first violations. */
export function invalidInput(
  tool: string,
  violations: readonly Violation[],
  facts: { readonly hint?: string; readonly available?: readonly string[] } = {},
): SkillsError {
  const sentences = toSentences(violations, (field) => (field === "" ? "The input" : field.slice(1)));
  const { hint } = facts;
  const message = [`Invalid input to ${tool}.`, ...sentences, ...(hint === undefined ? [] : [hint])].join(" ");
  const all = { violations: violations.slice(0, maxViolations), ...facts };
  return new SkillsError("VALIDATION_ERROR", message, { facts: all });
}

/** A sentence for each of the first violations; `toName` names a field for the reader. */
export function toSentences(violations: readonly Violation[], toName: (field: string) => string): string[] {
  return violations.slice(0, maxSentences).map(({ field, expected, actual }) => {
    const name = toName(field);
    if (expected === noSuchParameter) return `Unknown parameter ${name}.`;
    return actual === null
      ? `${name} is required: ${expected}.`
      : `${name}: expected ${expected}, got ${inWords(actual)}.`;
  });
}

/** The words for the types of a skill's arguments. */
export const argumentTypes = {
  string: "a string",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  array: "an array",
  blob: "a blob id, as create_blob returns it",
} as const;

const maxSentences = 3;
/** Further violations are left out. */
export const maxViolations = 20;
const maxShownLength = 80;

/** A value short enough for an error; null if missing. */
export function shown(value: unknown): unknown {
  if (value === undefined) return null;
  if (value === null) return "null";
  if (typeof value === "string") return truncateText(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  // Arguments of calls in process may not be JSON; errors are.
  return typeof value === "boolean" ? value : `a ${typeof value}`;
}

/** Puts a result of {@link shown} in a sentence: values are quoted as JSON, types such as `an array` are not. */
function inWords(actual: unknown): string {
  return typeof actual === "string" && kinds.has(actual) ? actual : JSON.stringify(actual);
}

const kinds = new Set(["null", "an array", "an object", "a bigint", "a function", "a symbol"]);

export function truncateText(text: string): string {
  return text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text;
}
