import type { ValueFault } from "../rules/check-frontmatter.ts";

const noMetadata: Readonly<Record<string, string>> = Object.freeze({});

/** What is longer is left out, not cut: half of a list of hosts may end in another host. */
const maxEntries = 64;
const maxKeyLength = 128;
const maxValueLength = 2048;

/** A frontmatter's `metadata` as strings (C-1.3). What is nested or too long is dropped and reported. */
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
  const entries = Object.entries(value);
  if (entries.length > maxEntries) {
    report({
      code: "metadata-too-long",
      key: "metadata",
      message: `metadata has ${entries.length} entries; those after the first ${maxEntries} are left out`,
      fix: "Move what only people read below the frontmatter.",
    });
  }
  for (const [key, entry] of entries.slice(0, maxEntries)) {
    if (typeof entry === "string" && (key.length > maxKeyLength || entry.length > maxValueLength)) {
      const what =
        key.length > maxKeyLength ? `a key of ${key.length} characters` : `${entry.length} characters in ${key}`;
      report({
        code: "metadata-too-long",
        key: "metadata",
        child: key,
        message: `metadata has ${what}, which is left out; at most ${maxKeyLength} in a key and ${maxValueLength} in a value count`,
        fix: "Shorten it, or move it below the frontmatter.",
      });
      continue;
    }
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
