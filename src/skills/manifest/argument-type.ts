import type { Manifest } from "./manifest.ts";

/** One argument that a manifest declares. */
export type DeclaredArgument = NonNullable<Manifest["inputs"]>[string];

/** Whether a value is of the type that an argument has; of a blob it is the id, as text. */
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

/** Whether a value is one of those that an argument may have. */
export function isChoice(value: unknown, { enum: choices }: DeclaredArgument): boolean {
  return choices?.some((choice) => JSON.stringify(choice) === JSON.stringify(value)) ?? true;
}
