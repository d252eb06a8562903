import * as z from "zod";

/** A whole number within bounds. Not `z.int()`, which also rejects unsafe integers and publishes that bound. */
export function wholeNumber({ min, max }: { readonly min: number; readonly max?: number }): z.ZodNumber {
  const expected = max === undefined ? `a whole number, ${min} or more` : `a whole number from ${min} to ${max}`;
  const number = z
    .number(expected)
    .min(min, expected)
    .refine((value) => Number.isInteger(value), expected)
    .meta({ type: "integer" });
  return max === undefined ? number : number.max(max, expected);
}

const mapping = z.record(z.string(), z.unknown());

/** The arguments of a run, passed on as they are: a copy by `z.record` would lose the key `__proto__`. */
export const runArguments = z
  .unknown()
  .refine((value) => mapping.safeParse(value).success, "an object")
  .meta({ type: "object", propertyNames: { type: "string" }, additionalProperties: {} });
