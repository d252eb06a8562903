import { SkillsError } from "../errors.ts";

/** One input that is not as it should be (CONTRACT C-2.3). */
export interface Violation {
  /** A JSON pointer into the parameters. */
  readonly field: string;
  readonly expected: string;
  /** A short value, or a word for a long one; null where there was nothing. */
  readonly actual: unknown;
}

/** The error for input that is not as it should be; the message says it all in words. */
export function invalidInput(
  tool: string,
  violations: readonly Violation[],
  facts: { readonly hint?: string; readonly available?: readonly string[] } = {},
): SkillsError {
  const sentences = violations.slice(0, maxSentences).map(({ field, expected, actual }) => {
    const parameter = field === "" ? "The input" : field.slice(1);
    return `${parameter}: expected ${expected}, got ${inWords(actual)}.`;
  });
  const message = [`Invalid input to ${tool}.`, ...sentences, ...(facts.hint === undefined ? [] : [facts.hint])].join(
    " ",
  );
  return new SkillsError("VALIDATION_ERROR", message, {
    facts: { violations: violations.slice(0, maxViolations), ...facts },
  });
}

const maxSentences = 3;
const maxViolations = 20;
const longestShown = 80;

/** What was found, short enough to be sent back; null for nothing. */
export function shown(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === "string") return cut(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  // In process, arguments need not be JSON; what is sent back is.
  return value === null || typeof value === "boolean" ? value : `a ${typeof value}`;
}

/** What {@link shown} gave, for a sentence: values are quoted as JSON, kinds such as `an array` are not. */
export function inWords(actual: unknown): string {
  if (actual === null || actual === undefined) return "nothing";
  return typeof actual === "string" && kinds.has(actual) ? actual : JSON.stringify(actual);
}

const kinds = new Set(["an array", "an object", "a bigint", "a function", "a symbol"]);

export function cut(text: string): string {
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}
