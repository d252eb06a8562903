import { jsonText } from "./safe-text.ts";

/** Raised when a field of the `--json` output changes or is removed; new fields do not raise it. */
const schemaVersion = 1;

/** Formats the output of `--json`; an `indent` of 0 gives one line. */
export function jsonObject(fields: object, indent = 2): string {
  return `${jsonText({ schemaVersion, ...fields }, indent)}\n`;
}

/** Formats the output of `--json` in chunks, each item of a list on one line, so that 10,000 skills are never one string. */
export function* jsonLines(fields: Readonly<Record<string, object | number | null>>): Iterable<string> {
  yield `{"schemaVersion":${schemaVersion}`;
  for (const [name, value] of Object.entries(fields)) {
    yield `,"${name}":`;
    if (value === null || typeof value === "number" || !(Symbol.iterator in value)) yield jsonText(value);
    else {
      let separator = "[\n";
      for (const item of value as Iterable<unknown>) {
        yield separator + jsonText(item);
        separator = ",\n";
      }
      yield separator === "[\n" ? "[]" : "\n]";
    }
  }
  yield "}\n";
}
