import { argumentTypes, shown, toSentences } from "../../../../../base/failures/invalid-input.ts";
import type { SkillInput } from "../../../../wire/skills.ts";

/** The reading of a field: a value, nothing (the default is used, if there is one), or a problem. */
type FieldValue = { readonly value?: unknown; readonly problem?: never } | { readonly problem: string };

/** The texts of the fields, by name. A choice is the index of its value, a boolean `true` or `false`. An empty text is not given. */
export type Drafts = Readonly<Record<string, string>>;

const blobId = /^blob:[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Reads one field as `execute_skill` would check it. */
export function readField(name: string, input: SkillInput, draft = ""): FieldValue {
  const { type, required = false, default: preset, enum: choices } = input;
  const text = type === "string" ? draft : draft.trim();
  const wrong = (actual: unknown): FieldValue => ({
    problem: toSentences([{ field: name, expected: argumentTypes[type], actual }], (field) => field).join(" "),
  });
  if (text === "") return required && preset === undefined ? wrong(null) : {};
  if (choices !== undefined) return { value: choices[Number(text)] };
  switch (type) {
    case "string":
      return { value: text };
    case "boolean":
      return { value: text === "true" };
    case "blob":
      return blobId.test(text) ? { value: text } : wrong(shown(text));
    case "integer":
    case "number": {
      // Adding 0 turns a negative zero into 0.
      const value = Number(text) + 0;
      const isValid = type === "integer" ? Number.isSafeInteger(value) : Number.isFinite(value);
      return isValid ? { value } : wrong(shown(text));
    }
    case "object":
    case "array":
      try {
        const value: unknown = JSON.parse(text);
        const isType = typeof value === "object" && value !== null && Array.isArray(value) === (type === "array");
        return isType ? { value } : wrong(shown(value));
      } catch (error) {
        return { problem: `${name} is not JSON: ${(error as SyntaxError).message}.` };
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
