/** Line and column, from 1, of an offset in a text; columns count code points. */
export function textPosition(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const lines = before.split(/\r\n|\n|\r(?!\n)/);
  const last = lines[lines.length - 1] ?? "";
  return { line: lines.length, column: Array.from(last).length + 1 };
}

/**
 * The offset of the value of a top-level key of a YAML mapping, or of `child` inside it: where the value starts on the
 * key's line, else the key itself, else the start of the text.
 */
export function keyOffset(text: string, key: string, child?: string): number {
  const found = new RegExp(`^(?:${quotable(key)})[ \\t]*:[ \\t]*`, "m").exec(text);
  if (found === null) return 0;
  const value = found.index + found[0].length;
  if (child !== undefined) {
    const inner = new RegExp(`(?:^[ \\t]+|[{,][ \\t]*)(?:${quotable(child)})[ \\t]*:`, "m").exec(text.slice(value));
    if (inner !== null) return value + inner.index + inner[0].search(/[^\s{,]/);
  }
  return value >= text.length || text[value] === "\n" || text[value] === "\r" ? found.index : value;
}

function quotable(key: string): string {
  const escaped = key.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return `${escaped}|"${escaped}"|'${escaped}'`;
}
