/** `at` is always the start of a line; reading a value moves it past the last line of that value. */
export interface Cursor {
  readonly text: string;
  at: number;
  /** Cached offset of the next `: `, so that each occurrence is searched for only once. */
  colon: number;
  /** The same for ` #`, which starts a comment. */
  comment: number;
}

const hash = 0x23;
const space = 0x20;
const colon = 0x3a;

export function lineEnd(text: string, from: number): number {
  const feed = text.indexOf("\n", from);
  return feed < 0 ? text.length : feed;
}

export function firstNonBlank(text: string, from: number, end: number): number {
  let index = from;
  while (index < end && text.charCodeAt(index) === space) index++;
  return index;
}

export function lastNonBlank(text: string, from: number, end: number): number {
  let index = end;
  while (index > from && text.charCodeAt(index - 1) === space) index--;
  return index;
}

/** The content of a double-quoted scalar whose only escapes are `\"` and `\\`. */
const escaped = /^(?:[^"\\]|\\["\\])*$/;

/** A plain or quoted single-line scalar. */
export function readScalar(cursor: Cursor, start: number, lineStop: number): string | undefined {
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
    case "#":
    case "&":
    case "*":
    case "!":
    case "|":
    case ">":
    case "%":
    case "@":
    case "`":
    case "[":
    case "]":
    case "{":
    case "}":
    case ",":
    case "?":
    case ":":
    case "-":
      return undefined;
    default:
      return isPlain(cursor, start, end) ? text.slice(start, end) : undefined;
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

/** A scalar; if it is plain, with its continuation lines, which are indented deeper than its key. */
export function readFolded(cursor: Cursor, valueStart: number, valueEnd: number, indent: number): string | undefined {
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

export function readFlowList(text: string, start: number, end: number): string[] | undefined {
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
