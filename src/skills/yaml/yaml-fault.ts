import type { Fault, YamlFailure } from "./yaml.ts";

/** Converts a parser error to a fault. `base` is the offset at which the parsed text starts. */
export function toFault({ reason, cause, offset: inner }: YamlFailure, base: number): Fault {
  const offset = base + Math.max(inner, 0);
  if (cause === "aliases") {
    const message = reason.startsWith("aliases exceeded")
      ? "too many YAML aliases; the limit is 10"
      : "a YAML alias refers to a value that contains it";
    return { code: "yaml-alias-bomb", offset, message, fix: "Write the values out instead of using aliases." };
  }
  if (reason.includes("tag ") || /^unknown .*tag/.test(reason)) {
    const fix = "Remove the tag, or put the value in quotes.";
    return { code: "yaml-tag", offset, message: `YAML tags are not allowed (${reason})`, fix };
  }
  if (reason.includes("duplicated")) {
    const message = "duplicate key; the first one is used";
    return { code: "yaml-duplicate-key", offset, message, fix: "Remove one of the two." };
  }
  if (reason.includes("tab characters")) {
    return { code: "yaml-syntax", offset, message: "tab used for indentation", fix: "Indent with spaces." };
  }
  const fix = "Put the value in single quotes, or check its indentation.";
  return { code: "yaml-syntax", offset, message: `invalid YAML: ${reason}`, fix };
}
