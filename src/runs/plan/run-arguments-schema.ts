import * as z from "zod";

const mapping = z.record(z.string(), z.unknown());

/** The arguments of a run, passed on as they came: a copy by `z.record` lacks the key `__proto__`, which is data like any other. */
export const runArguments = z
  .unknown()
  .refine((value) => mapping.safeParse(value).success, "an object")
  .meta({ type: "object", propertyNames: { type: "string" }, additionalProperties: {} });
