import * as z from "zod";

/** A whole number within bounds. Not `z.int()`, which also rejects unsafe integers and publishes that bound. */
export function wholeNumber({ least, most }: { readonly least: number; readonly most?: number }): z.ZodNumber {
  const expected = most === undefined ? `a whole number, ${least} or more` : `a whole number from ${least} to ${most}`;
  const number = z
    .number(expected)
    .min(least, expected)
    .refine((value) => Number.isInteger(value), expected)
    .meta({ type: "integer" });
  return most === undefined ? number : number.max(most, expected);
}

const mapping = z.record(z.string(), z.unknown());

/** The arguments of a run, passed on as they are: a copy by `z.record` would lose the key `__proto__`. */
export const runArguments = z
  .unknown()
  .refine((value) => mapping.safeParse(value).success, "an object")
  .meta({ type: "object", propertyNames: { type: "string" }, additionalProperties: {} });
