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
