import { countCodePoints } from "./code-points.ts";

/** Line and column, from 1, of an offset in a text; columns count code points. */
export function textPosition(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let start = 0;
  for (let index = 0; index < offset; index++) {
    const code = text.charCodeAt(index);
    if (code !== 0x0a && (code !== 0x0d || text.charCodeAt(index + 1) === 0x0a)) continue;
    line++;
    start = index + 1;
  }
  return { line, column: countCodePoints(text.slice(start, offset)) + 1 };
}

/**
 * The offset of the value of a top-level key of a YAML mapping, or of the key `child` inside it: where the value starts on
 * the key's line, else the key itself, else the start of the text.
 */
export function keyOffset(text: string, key: string, child?: string): number {
  const start = lineOffset(text, key);
  if (start < 0) return 0;
  const value = start + (/^.*?:[ \t]*/.exec(text.slice(start, start + key.length + 20))?.[0].length ?? 0);
  if (child !== undefined) {
    const inner = new RegExp(`(?:^[ \\t]+|[{,][ \\t]*)(?:${quotable(child)})[ \\t]*:`, "m").exec(text.slice(value));
    if (inner !== null) return value + inner.index + inner[0].search(/[^\s{,]/);
  }
  return value >= text.length || text[value] === "\n" || text[value] === "\r" ? start : value;
}

function lineOffset(text: string, key: string): number {
  if (text.startsWith(`${key}:`)) return 0;
  const plain = text.indexOf(`\n${key}:`);
  return plain >= 0 ? plain + 1 : text.search(new RegExp(`^(?:${quotable(key)})[ \\t]*:`, "m"));
}

function quotable(key: string): string {
  const escaped = key.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return `${escaped}|"${escaped}"|'${escaped}'`;
}
