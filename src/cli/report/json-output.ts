import { jsonText } from "./safe-text.ts";

/** Raised when a field of what `--json` prints changes or goes; fields are added without that. */
const schemaVersion = 1;

/** What `--json` prints; with an `indent` of 0 on one line. */
export function jsonObject(fields: object, indent = 2): string {
  return `${jsonText({ schemaVersion, ...fields }, indent)}\n`;
}

/** What `--json` prints, in chunks and with each item of a list on one line: ten thousand skills are never one string. */
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
