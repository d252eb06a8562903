import { parseIfJson } from "../../base/json/json-value.ts";

/** Finds values in the bytes of a line of JSON, so that they can be copied unparsed: numbers keep their digits. Nothing recurses. */

export interface JsonValueRange {
  readonly from: number;
  /** The index after the last byte of the value. */
  readonly to: number;
}

/** Finds the range of the value that a line consists of. Throws SyntaxError if the line is not JSON. */
export function wholeValue(line: Buffer): JsonValueRange {
  const from = skipBlanks(line, 0);
  const to = endOfValue(line, from);
  if (to === -1) throw new SyntaxError("not JSON");
  return { from, to };
}

/** Calls `see` with every field of the object at `from`, or after blanks. Returns the index after the object; -1 if there is none. */
export function readObject(
  line: Buffer,
  from: number,
  see: (key: JsonValueRange, value: JsonValueRange) => unknown,
): number {
  let at = skipBlanks(line, from);
  if (line[at] !== openBrace) return -1;
  at = skipBlanks(line, at + 1);
  if (line[at] === closeBrace) return at + 1;
  for (;;) {
    if (line[at] !== quote) return -1;
    const key = { from: at, to: endOfString(line, at) };
    if (key.to === -1) return -1;
    at = skipBlanks(line, key.to);
    if (line[at] !== colon) return -1;
    const value = skipBlanks(line, at + 1);
    const end = endOfValue(line, value);
    if (end === -1) return -1;
    see(key, { from: value, to: end });
    at = skipBlanks(line, end);
    if (line[at] === closeBrace) return at + 1;
    if (line[at] !== comma) return -1;
    at = skipBlanks(line, at + 1);
  }
}

/** Calls `see` with every element of the array at `from`, or after blanks. Returns the index after the array; -1 if there is none. */
export function readArray(line: Buffer, from: number, see: (element: JsonValueRange) => unknown): number {
  let at = skipBlanks(line, from);
  if (line[at] !== openBracket) return -1;
  at = skipBlanks(line, at + 1);
  if (line[at] === closeBracket) return at + 1;
  for (;;) {
    const end = endOfValue(line, at);
    if (end === -1) return -1;
    see({ from: at, to: end });
    at = skipBlanks(line, end);
    if (line[at] === closeBracket) return at + 1;
    if (line[at] !== comma) return -1;
    at = skipBlanks(line, at + 1);
  }
}

/** Whether the JSON in a range is exactly this text, without blanks or escapes: the usual form of every key and method. */
export function isText(line: Buffer, { from, to }: JsonValueRange, text: Buffer): boolean {
  if (to - from !== text.length) return false;
  for (let index = 0; index < text.length; index++) if (line[from + index] !== text[index]) return false;
  return true;
}

/** Reads the string in a range; undefined if there is another value, or bytes that are no JSON. */
export function readString(line: Buffer, { from, to }: JsonValueRange): string | undefined {
  if (line[from] !== quote) return undefined;
  // With invalid escapes, the value is no string.
  const value = parseIfJson(line.toString("utf8", from, to));
  return typeof value === "string" ? value : undefined;
}

const [quote, backslash, colon, comma] = [34, 92, 58, 44];
const [openBrace, closeBrace, openBracket, closeBracket] = [123, 125, 91, 93];
const [tab, lineFeed, carriageReturn, space] = [9, 10, 13, 32];

function skipBlanks(line: Buffer, from: number): number {
  let at = from;
  for (;;) {
    const byte = line[at];
    if (byte !== space && byte !== lineFeed && byte !== carriageReturn && byte !== tab) return at;
    at += 1;
  }
}

function endOfValue(line: Buffer, from: number): number {
  const first = line[from];
  if (first === quote) return endOfString(line, from);
  return first === openBrace || first === openBracket ? endOfContainer(line, from) : endOfLiteral(line, from);
}

function endOfContainer(line: Buffer, from: number): number {
  let depth = 0;
  for (let at = from; at < line.length; at++) {
    const byte = line[at];
    if (byte === quote) {
      const end = endOfString(line, at);
      if (end === -1) return -1;
      at = end - 1;
    } else if (byte === openBrace || byte === openBracket) depth += 1;
    else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

/** The number of bytes that are examined here before Node searches for the next quote, which is faster in long strings only. */
const stretch = 64;

function endOfString(line: Buffer, open: number): number {
  let at = open + 1;
  for (;;) {
    for (const far = Math.min(at + stretch, line.length); at < far; at++) {
      const byte = line[at];
      if (byte === quote) return at + 1;
      if (byte === backslash) at += 1;
    }
    const next = line.indexOf(quote, at);
    if (next === -1) return -1;
    let backslashes = 0;
    while (next - backslashes > at && line[next - 1 - backslashes] === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return next + 1;
    at = next + 1;
  }
}

function endOfLiteral(line: Buffer, from: number): number {
  let at = from;
  for (; at < line.length; at++) {
    const byte = line[at];
    if (byte === comma || byte === closeBrace || byte === closeBracket) break;
    if (byte === space || byte === lineFeed || byte === carriageReturn || byte === tab) break;
  }
  return at === from ? -1 : at;
}
