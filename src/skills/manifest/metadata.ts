import { inDigits, tooLong } from "../text/code-points.ts";
import type { ValueFault } from "../rules/check-frontmatter.ts";

const noMetadata: Readonly<Record<string, string>> = Object.freeze({});

/** Longer values are ignored, not truncated, because a truncated list of hosts could end with a different host. */
const maxEntries = 64;
const maxKeyLength = 128;
const maxValueLength = 2048;

/** The `metadata` of frontmatter as strings (C-1.3). Nested and overlong values are ignored and reported. */
export function readMetadata(value: unknown, report: (fault: ValueFault) => void): Readonly<Record<string, string>> {
  if (value === undefined || value === "") return noMetadata;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    report({
      code: "metadata-not-a-mapping",
      key: "metadata",
      message: "metadata is not a mapping; it is ignored",
      fix: "Write metadata as indented lines of the form `key: value`.",
    });
    return noMetadata;
  }
  const metadata: Record<string, string> = {};
  const entries = Object.entries(value);
  if (entries.length > maxEntries) {
    report({
      code: "metadata-too-long",
      key: "metadata",
      message: `metadata has ${inDigits(entries.length)} entries; the limit is ${maxEntries}, and the rest are ignored`,
      fix: "Move what is only for people below the frontmatter.",
    });
  }
  for (const [key, entry] of entries.slice(0, maxEntries)) {
    if (typeof entry === "string" && (key.length > maxKeyLength || entry.length > maxValueLength)) {
      const what =
        key.length > maxKeyLength
          ? tooLong("metadata key", key.length, maxKeyLength)
          : tooLong(`metadata.${key}`, entry.length, maxValueLength);
      report({
        code: "metadata-too-long",
        key: "metadata",
        child: key,
        message: `${what}; it is ignored`,
        fix: "Shorten it, or move it below the frontmatter.",
      });
      continue;
    }
    if (typeof entry === "string") {
      // An assignment to `__proto__` would set the prototype.
      if (key === "__proto__") Object.defineProperty(metadata, key, { value: entry, enumerable: true });
      else metadata[key] = entry;
      continue;
    }
    report({
      code: "metadata-nested-value",
      key: "metadata",
      child: key,
      message: `metadata.${key} is not a string; it is ignored`,
      fix: `Write metadata.${key} as one string.`,
    });
  }
  return Object.freeze(metadata);
}
