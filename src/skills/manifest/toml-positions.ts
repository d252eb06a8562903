import type { TextRange } from "../../base/failures/file-problem.ts";
import { createTextPositions, toTextRange } from "../../base/text/text-positions.ts";

type Range = readonly [start: number, end: number];
/** The ranges of a key and its value; for the header of a table, both are its range. */
type TomlRanges = Readonly<Record<"key" | "value", Range>>;

const stringOrComment =
  /"""(?:[^"\\]|\\[^]|"(?!""))*"{3,5}|'''(?:[^']|'(?!''))*'{3,5}|"(?:[^"\\\r\n]|\\.)*"|'[^'\r\n]*'|#[^\r\n]*/g;
const segment = String.raw`(?:[\w-]+|"[^"]*"|'[^']*')`;
const dotted = String.raw`${segment}(?:[ \t]*\.[ \t]*${segment})*`;
const line = new RegExp(
  String.raw`^[ \t]*(?:(?<header>\[{1,2}[ \t]*${dotted}[ \t]*\]{1,2})|(?<key>${dotted})[ \t]*=[ \t]*(?<value>.*?))[ \t]*\r?$`,
  "dgm",
);

/**
 * Returns a function that finds the positions of keys, values and table headers in TOML. A path inside a list or an inline table has the
 * position of that value; an unknown path has the start of the text. The text must be valid TOML; it is read once, on first use.
 */
export function createTomlPositions(
  text: string,
): (path: readonly (string | number)[], part?: "key" | "value") => TextRange {
  const positionOf = createTextPositions(text);
  let ranges: ReadonlyMap<string, TomlRanges> | undefined;
  return (path, part = "value") => {
    ranges ??= readRanges(text);
    for (let length = path.length; length > 0; length--) {
      const found = ranges.get(idOf(path.slice(0, length)));
      if (found !== undefined) return toTextRange(positionOf, ...(length === path.length ? found[part] : found.value));
    }
    return positionOf(0);
  };
}

function readRanges(text: string): ReadonlyMap<string, TomlRanges> {
  // The replacement has the same length, and nothing in a string or a comment is mistaken for a key.
  const plain = text.replace(stringOrComment, (taken) =>
    taken.startsWith("#")
      ? " ".repeat(taken.length)
      : `${taken.charAt(0)}${"_".repeat(taken.length - 2)}${taken.at(-1)}`,
  );
  const ranges = new Map<string, TomlRanges>();
  /** The number of entries so far, for lists whose entries are tables with headers. */
  const counts = new Map<string, number>();
  let table: readonly string[] = [];
  const add = (path: readonly string[], found: TomlRanges): void => {
    // A table that only a longer name implies has the position of that name.
    for (let length = 1; length < path.length; length++) {
      const implied = idOf(path.slice(0, length));
      if (!ranges.has(implied)) ranges.set(implied, { key: found.key, value: found.key });
    }
    ranges.set(idOf(path), found);
  };
  for (const { indices } of plain.matchAll(line)) {
    const { header, key, value } = (indices?.groups ?? {}) as Partial<Record<string, [number, number]>>;
    if (header !== undefined) {
      const names = namesIn(text.slice(...header));
      const list = idOf(names);
      const index = counts.get(list) ?? 0;
      const isEntry = text.startsWith("[[", header[0]);
      if (isEntry) counts.set(list, index + 1);
      table = isEntry ? [...names, String(index)] : names;
      add(table, { key: header, value: header });
    } else if (key !== undefined && value !== undefined) {
      add([...table, ...namesIn(text.slice(...key))], { key, value });
    }
  }
  return ranges;
}

function namesIn(key: string): readonly string[] {
  return Array.from(key.matchAll(new RegExp(segment, "g")), ([name]) => name.replace(/^(["'])(.*)\1$/, "$2"));
}

function idOf(path: readonly (string | number)[]): string {
  return JSON.stringify(path.map(String));
}
