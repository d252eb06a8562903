import { countCodePoints } from "./code-points.ts";

/**
 * Where a value stands in TOML text: its line and column, else those of the nearest table around it, else the start.
 * It goes by lines alone, so it is meant for text that a parser has accepted.
 */
export function tomlPosition(text: string, path: readonly (string | number)[]): { line: number; column: number } {
  const wanted = path.filter((segment) => typeof segment === "string");
  let best = { line: 1, column: 1, depth: 0 };
  let table: readonly string[] = [];
  let quote: string | undefined;
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const inString = quote !== undefined;
    for (const mark of line.match(/"""|'''/g) ?? []) {
      quote = quote === undefined ? mark : quote === mark ? undefined : quote;
    }
    if (inString) continue;
    const header = /^[ \t]*\[\[?([^\]]+)\]/.exec(line);
    const entry = header === null ? /^[ \t]*((?:"[^"]*"|'[^']*'|[\w.\- \t])+?)[ \t]*=[ \t]*/.exec(line) : null;
    if (header !== null) table = keySegments(header[1] ?? "");
    const here = header !== null ? table : [...table, ...keySegments(entry?.[1] ?? "")];
    const nearer = here.length > best.depth && here.every((segment, depth) => segment === wanted[depth]);
    if ((header ?? entry) === null || !nearer) continue;
    const value = header !== null ? line.indexOf("[") : (entry?.[0].length ?? 0);
    const inner = header === null ? inlineOffset(line.slice(value), wanted.slice(here.length)) : 0;
    best = { line: index + 1, column: countCodePoints(line.slice(0, value + inner)) + 1, depth: here.length };
  }
  return { line: best.line, column: best.column };
}

/** Where, in the text of an inline table, the value of the last of these keys starts. */
function inlineOffset(text: string, path: readonly string[]): number {
  const key = path.at(-1);
  const start = key === undefined ? -1 : text.indexOf(key);
  if (key === undefined || start < 0) return 0;
  const value = /^["']?[ \t]*=[ \t]*/.exec(text.slice(start + key.length));
  return value === null ? 0 : start + key.length + value[0].length;
}

function keySegments(key: string): string[] {
  return (key.match(/"[^"]*"|'[^']*'|[^.\s]+/g) ?? []).map((segment) => segment.replace(/^(["'])(.*)\1$/, "$2"));
}
