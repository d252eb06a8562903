import { firstNonBlank, lastNonBlank, lineEnd, readFlowList, readFolded, readScalar } from "./plain-scalars.ts";
import type { Cursor } from "./plain-scalars.ts";

/**
 * A fast path for the YAML of nearly all frontmatter. Returns the same values as js-yaml with its failsafe schema, or undefined for
 * any syntax that it does not support.
 */
export function readPlainYaml(source: string): Record<string, unknown> | undefined {
  if (unusual.test(source)) return undefined;
  const text = source.includes("\r") ? source.replaceAll("\r\n", "\n") : source;
  if (text.includes("\r")) return undefined;
  const cursor: Cursor = { text, at: 0, colon: -1, comment: -1 };
  return readMapping(cursor, 0);
}

/** Characters that YAML forbids, treats as indentation or may treat as line breaks, and bidirectional marks. */
const unusual =
  /[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/;
const hash = 0x23;
const space = 0x20;
const dash = 0x2d;
const colon = 0x3a;
const longestKey = 100;
/** Maximum number of keys in a mapping, which bounds the time to read it. */
export const mostKeys = 1000;
/** Maximum indentation. The parser has its own limit. */
const deepest = 16;

/** The offset of the colon after a key of letters, digits, hyphens and underscores; -1 if there is no such key. */
function keyEnd(text: string, start: number, end: number): number {
  for (let index = start; index < end; index++) {
    const code = text.charCodeAt(index);
    const plain = (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39);
    if (plain || (index > start && (code === dash || code === 0x5f))) continue;
    const after = index + 1 === end || text.charCodeAt(index + 1) === space;
    return code === colon && index > start && index - start <= longestKey && after ? index : -1;
  }
  return -1;
}

function readValue(cursor: Cursor, start: number, end: number, indent: number): unknown {
  const { text } = cursor;
  cursor.at = end + 1;
  if (start === end) return readNested(cursor, indent);
  switch (text.charAt(start)) {
    case "[":
      return readFlowList(text, start, lastNonBlank(text, start, end));
    case "|":
    case ">":
      return indent > 0 ? undefined : readBlockScalar(cursor, text.slice(start, lastNonBlank(text, start, end)));
    default:
      return readFolded(cursor, start, end, indent);
  }
}

/** A literal or folded block scalar with one of the headers `|`, `|-`, `>` and `>-`. */
function readBlockScalar(cursor: Cursor, header: string): string | undefined {
  const { text } = cursor;
  const folded = header.startsWith(">");
  if (header.length > 2 || (header.length === 2 && !header.endsWith("-")) || !text.endsWith("\n")) return undefined;
  let indent = 0;
  let blanks = 0;
  let value = "";
  while (cursor.at < text.length) {
    const end = lineEnd(text, cursor.at);
    if (end === cursor.at) {
      blanks++;
      cursor.at = end + 1;
      continue;
    }
    const start = firstNonBlank(text, cursor.at, end);
    if (start === end) return undefined;
    if (start === cursor.at) break;
    const opens = indent === 0;
    if (opens) indent = start - cursor.at;
    const deeper = start - cursor.at - indent;
    if (deeper < 0 || (folded && deeper > 0)) return undefined;
    if (opens) value = "\n".repeat(blanks);
    else if (folded) value += blanks === 0 ? " " : "\n".repeat(blanks);
    else value += "\n".repeat(blanks + 1);
    value += text.slice(cursor.at + indent, end);
    blanks = 0;
    cursor.at = end + 1;
  }
  if (indent === 0) return undefined;
  return header.length === 2 ? value : `${value}\n`;
}

/** The value on the lines after `key:`: a list of single-line scalars, a mapping, a scalar, or nothing. */
function readNested(cursor: Cursor, indent: number): unknown {
  const { text, at } = cursor;
  if (at >= text.length) return "";
  const end = lineEnd(text, at);
  const start = firstNonBlank(text, at, end);
  const depth = start - at;
  if (start === end || text.charCodeAt(start) === hash || depth > deepest) return undefined;
  if (text.charCodeAt(start) === dash && depth >= indent) return readList(cursor, depth);
  if (depth <= indent) return "";
  if (keyEnd(text, start, end) >= 0) return readMapping(cursor, depth);
  cursor.at = end + 1;
  return readFolded(cursor, start, end, indent);
}

function readList(cursor: Cursor, indent: number): string[] | undefined {
  const { text } = cursor;
  const items: string[] = [];
  while (cursor.at < text.length) {
    const end = lineEnd(text, cursor.at);
    const start = firstNonBlank(text, cursor.at, end);
    const depth = start - cursor.at;
    const isItem = text.charCodeAt(start) === dash;
    if (start === end || depth < indent || (depth === indent && !isItem)) return items;
    if (depth > indent || text.charCodeAt(start + 1) !== space) return undefined;
    const value = firstNonBlank(text, start + 1, end);
    const item = value === end ? undefined : readScalar(cursor, value, end);
    if (item === undefined) return undefined;
    items.push(item);
    cursor.at = end + 1;
  }
  return items;
}

/** The keys at one indentation level. A blank line or a comment ends a nested mapping. */
function readMapping(cursor: Cursor, indent: number): Record<string, unknown> | undefined {
  const { text } = cursor;
  const values: Record<string, unknown> = {};
  let count = 0;
  while (cursor.at < text.length) {
    const end = lineEnd(text, cursor.at);
    const start = firstNonBlank(text, cursor.at, end);
    const depth = start - cursor.at;
    if (start === end || (depth === 0 && text.charCodeAt(start) === hash)) {
      if (indent > 0) return values;
      cursor.at = end + 1;
      continue;
    }
    if (depth < indent) return values;
    const colonAt = depth > indent ? -1 : keyEnd(text, start, end);
    if (colonAt < 0) return undefined;
    const key = text.slice(start, colonAt);
    if (Object.hasOwn(values, key) || ++count > mostKeys) return undefined;
    const value = readValue(cursor, firstNonBlank(text, colonAt + 1, end), end, indent);
    if (value === undefined) return undefined;
    values[key] = value;
  }
  return values;
}
