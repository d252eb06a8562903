import type { Manifest } from "../manifest.ts";

/** An argument declared in a manifest. */
export type DeclaredArgument = NonNullable<Manifest["inputs"]>[string];

/** Whether a value has the type of an argument. A blob is passed as its id, a string. */
export function isOfType(value: unknown, type: DeclaredArgument["type"]): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "blob":
      return typeof value === "string";
    case "string":
    case "number":
    case "boolean":
      return typeof value === type;
  }
}

/** Whether a value is one of the allowed values of an argument. */
export function isChoice(value: unknown, { enum: choices }: DeclaredArgument): boolean {
  return choices?.some((choice) => JSON.stringify(choice) === JSON.stringify(value)) ?? true;
}
