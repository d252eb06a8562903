/**
 * A fast path for the YAML of nearly all frontmatter. Returns the same values as js-yaml with its failsafe schema, or undefined for
 * any syntax that it does not support.
 */
export function readPlainYaml(source: string): Record<string, unknown> | undefined {
  if (unusual.test(source)) return undefined;
  const text = source.includes("\r") ? source.replaceAll("\r\n", "\n") : source;
  if (text.includes("\r")) return undefined;
  return readMapping({ text, at: 0, colon: -1, comment: -1 }, 0);
}

/** `at` is always the start of a line; reading a value moves it past the last line of that value. */
interface Cursor {
  readonly text: string;
  at: number;
  /** Cached offset of the next `: `, so that each occurrence is searched for only once. */
  colon: number;
  /** The cached offset of the next ` #`, which starts a comment. */
  comment: number;
}

/** Characters that YAML forbids, treats as indentation or may treat as line breaks, and bidirectional marks. */
const unusual =
  /[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/;
const hash = 0x23;
const space = 0x20;
const dash = 0x2d;
const colon = 0x3a;
const maxKeyLength = 100;
/** Maximum number of keys in a mapping, which bounds the time to read it. */
export const maxKeys = 1000;
/** The maximum indentation. The parser has its own limit. */
const deepest = 16;

/** The offset of the colon after a key of letters, digits, hyphens and underscores; -1 if there is no such key. */
function keyEnd(text: string, start: number, end: number): number {
  for (let index = start; index < end; index++) {
    const code = text.charCodeAt(index);
    const plain = (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39);
    if (plain || (index > start && (code === dash || code === 0x5f))) continue;
    const after = index + 1 === end || text.charCodeAt(index + 1) === space;
    return code === colon && index > start && index - start <= maxKeyLength && after ? index : -1;
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

/** Reads the value on the lines after `key:`: a list of single-line scalars, a mapping, a scalar, or nothing. */
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

/** Reads the keys at one indentation level. A blank line or a comment ends a nested mapping. */
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
    if (Object.hasOwn(values, key) || ++count > maxKeys) return undefined;
    const value = readValue(cursor, firstNonBlank(text, colonAt + 1, end), end, indent);
    if (value === undefined) return undefined;
    values[key] = value;
  }
  return values;
}

function lineEnd(text: string, from: number): number {
  const feed = text.indexOf("\n", from);
  return feed < 0 ? text.length : feed;
}

function firstNonBlank(text: string, from: number, end: number): number {
  let index = from;
  while (index < end && text.charCodeAt(index) === space) index++;
  return index;
}

function lastNonBlank(text: string, from: number, end: number): number {
  let index = end;
  while (index > from && text.charCodeAt(index - 1) === space) index--;
  return index;
}

/** The content of a double-quoted scalar whose only escapes are `\"` and `\\`. */
const escaped = /^(?:[^"\\]|\\["\\])*$/;

const notPlain = "#&*!|>%@`[]{},?:-";

/** Reads a plain or quoted single-line scalar. */
function readScalar(cursor: Cursor, start: number, lineStop: number): string | undefined {
  const { text } = cursor;
  const end = lastNonBlank(text, start, lineStop);
  switch (text.charAt(start)) {
    case '"': {
      const value = text.slice(start + 1, end - 1);
      if (end - start < 2 || text.charAt(end - 1) !== '"') return undefined;
      if (!value.includes("\\")) return value.includes('"') ? undefined : value;
      return escaped.test(value) ? value.replace(/\\(["\\])/g, "$1") : undefined;
    }
    case "'": {
      let close = text.indexOf("'", start + 1);
      let doubled = false;
      while (close >= 0 && close < end - 1 && text[close + 1] === "'") {
        doubled = true;
        close = text.indexOf("'", close + 2);
      }
      if (close !== end - 1 || close === start) return undefined;
      const value = text.slice(start + 1, close);
      return doubled ? value.replaceAll("''", "'") : value;
    }
    default:
      if (notPlain.includes(text.charAt(start)) || !isPlain(cursor, start, end)) return undefined;
      return text.slice(start, end);
  }
}

/** Whether the text of a line contains neither a key nor a comment. */
function isPlain(cursor: Cursor, start: number, end: number): boolean {
  const { text } = cursor;
  if (cursor.colon < start) cursor.colon = indexOrEnd(text, ": ", start);
  if (cursor.colon < end || text.charCodeAt(end - 1) === colon) return false;
  if (cursor.comment < start) cursor.comment = indexOrEnd(text, " #", start);
  return cursor.comment >= end;
}

function indexOrEnd(text: string, wanted: string, from: number): number {
  const index = text.indexOf(wanted, from);
  return index < 0 ? text.length : index;
}

/** Reads a scalar. A plain one includes its continuation lines, which are indented deeper than its key. */
function readFolded(cursor: Cursor, valueStart: number, valueEnd: number, indent: number): string | undefined {
  const { text } = cursor;
  const opening = text.charAt(valueStart);
  let value = readScalar(cursor, valueStart, valueEnd);
  if (value === undefined || opening === '"' || opening === "'") return value;
  while (cursor.at < text.length) {
    const end = lineEnd(text, cursor.at);
    const start = firstNonBlank(text, cursor.at, end);
    if (start === end || start - cursor.at <= indent) return value;
    const stop = lastNonBlank(text, start, end);
    if (text.charCodeAt(start) === hash || !isPlain(cursor, start, stop)) return undefined;
    value += ` ${text.slice(start, stop)}`;
    cursor.at = end + 1;
  }
  return value;
}

const flowItem = /^[A-Za-z0-9_./(\u00a1-\u02ff](?:[^[\]{},:#]|:[^\s[\]{},:#])*$/;

function readFlowList(text: string, start: number, end: number): string[] | undefined {
  if (text[end - 1] !== "]") return undefined;
  const inner = text.slice(start + 1, end - 1);
  if (firstNonBlank(inner, 0, inner.length) === inner.length) return [];
  const items: string[] = [];
  for (const piece of inner.split(",")) {
    const from = firstNonBlank(piece, 0, piece.length);
    const item = piece.slice(from, lastNonBlank(piece, from, piece.length));
    const quote = item[0];
    if (quote === '"' || quote === "'") {
      const value = item.slice(1, -1);
      if (item.length < 2 || !item.endsWith(quote) || value.includes(quote) || value.includes("\\")) return undefined;
      items.push(value);
    } else if (flowItem.test(item)) {
      items.push(item);
    } else {
      return undefined;
    }
  }
  return items;
}
