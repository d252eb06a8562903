import type { ValueFault } from "./check-frontmatter.ts";

const noMetadata: Readonly<Record<string, string>> = Object.freeze({});

/** A frontmatter's `metadata` as strings (C-1.3). What is nested is dropped and reported. */
export function readMetadata(value: unknown, report: (fault: ValueFault) => void): Readonly<Record<string, string>> {
  if (value === undefined || value === "") return noMetadata;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    report({
      code: "metadata-not-a-mapping",
      key: "metadata",
      message: "metadata is not a mapping; it is left out",
      fix: "Write metadata as indented lines of the form key: value.",
    });
    return noMetadata;
  }
  const metadata: Record<string, string> = {};
  for (const [key, entry] of Object.entries(value)) {
    if (typeof entry === "string") {
      // Not an assignment, which would take the key __proto__ for the prototype.
      if (key === "__proto__") Object.defineProperty(metadata, key, { value: entry, enumerable: true });
      else metadata[key] = entry;
      continue;
    }
    report({
      code: "metadata-nested-value",
      key: "metadata",
      child: key,
      message: `the value of metadata.${key} is not a string; it is left out`,
      fix: `Write metadata.${key} as one string.`,
    });
  }
  return Object.freeze(metadata);
}
