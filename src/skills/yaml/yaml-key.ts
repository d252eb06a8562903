/** A key on a line of YAML, and the offset of its value, after the colon and whitespace. */
export interface YamlKey {
  readonly key: string;
  readonly value: number;
}

/** YAML does not allow longer implicit keys. */
const longestKey = 1024;
const notFirst = "#\"'[]{},&*!|>%@`?:";

/**
 * The key that starts at an offset: quoted, or plain up to the first colon followed by whitespace or the end of the line. Undefined
 * if a character of `stops` comes first in a plain key. Reads at most one line.
 */
export function yamlKeyAt(text: string, start: number, stops = ""): YamlKey | undefined {
  const limit = Math.min(text.length, start + longestKey);
  const quote = text[start];
  if (quote === '"' || quote === "'") {
    const close = quoteEnd(text, start, limit);
    const colon = skipBlanks(text, close + 1);
    const key = text.slice(start + 1, close);
    const isKey = key !== "" && close < limit && isKeyColon(text, colon) && !/[\\\r\n]/.test(key);
    return isKey ? { key, value: skipBlanks(text, colon + 1) } : undefined;
  }
  if (isLineEnd(text, start) || isBlank(text, start) || notFirst.includes(text.charAt(start))) return undefined;
  if (text[start] === "-" && (isLineEnd(text, start + 1) || isBlank(text, start + 1))) return undefined;
  for (let index = start; index < limit && !isLineEnd(text, index); index++) {
    if (stops !== "" && stops.includes(text.charAt(index))) return undefined;
    if (isKeyColon(text, index)) {
      return { key: text.slice(start, index).trimEnd(), value: skipBlanks(text, index + 1) };
    }
  }
  return undefined;
}

/** The offset of the closing quote for the quote at `start`, at most `limit`. */
export function quoteEnd(text: string, start: number, limit: number): number {
  for (let index = start + 1; index < limit; index++) {
    if (text[index] === text[start]) return index;
    if (text[index] === "\\" && text[start] === '"') index++;
  }
  return limit;
}

export function skipBlanks(text: string, from: number): number {
  let index = from;
  while (isBlank(text, index)) index++;
  return index;
}

export function isLineEnd(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 0x0a || code === 0x0d || at >= text.length;
}

function isKeyColon(text: string, at: number): boolean {
  return text.charCodeAt(at) === 0x3a && (isBlank(text, at + 1) || isLineEnd(text, at + 1));
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 0x20 || code === 0x09;
}
