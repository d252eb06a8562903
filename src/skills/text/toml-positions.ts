import { createTextPositions, toTextRange } from "./text-positions.ts";
import type { TextRange } from "./text-positions.ts";

/**
 * Returns the positions of values or keys in TOML; else of the nearest enclosing value, else the start. The text must be valid TOML;
 * it is read once, on first use.
 */
export function createTomlPositions(
  text: string,
): (path: readonly (string | number)[], part?: "key" | "value") => TextRange {
  const positionOf = createTextPositions(text);
  let root: TomlPlace | undefined;
  return (path, part = "value") => {
    root ??= findTomlPlaces(text);
    let place = root;
    for (const segment of path) {
      const inner = place.inside?.get(String(segment));
      if (inner === undefined) break;
      place = inner;
    }
    const { offset, end } = (part === "key" ? place.key : undefined) ?? place;
    return toTextRange(positionOf, offset, end);
  };
}

/** The position of a key, table or item of TOML, with nested positions by key or index. */
interface TomlPlace {
  /** Offset of the value, or of the header of a table. */
  offset: number;
  end?: number;
  /** The range of the key, for an entry. */
  key?: { readonly offset: number; readonly end: number };
  /** Created on demand, because nearly all places are scalars. */
  inside?: Map<string, TomlPlace>;
  /** For an array of tables, the item that the names after the header belong to. */
  newest?: TomlPlace;
}

/**
 * Finds the positions in TOML: of keys and items at their value, of tables at their header, and of tables that only a
 * longer name implies at that name. The text must be valid TOML; else the result is incomplete or wrong.
 */
function findTomlPlaces(text: string): TomlPlace {
  const reader: Reader = { text, at: 0 };
  const root: TomlPlace = { offset: 0 };
  let table = root;
  for (;;) {
    skipFiller(reader);
    const start = reader.at;
    if (start >= text.length) return root;
    if (text[start] === "[") table = readHeader(reader, root);
    else readEntry(reader, table);
    if (reader.at === start) reader.at++;
  }
}

interface Reader {
  readonly text: string;
  at: number;
}

function readHeader(reader: Reader, root: TomlPlace): TomlPlace {
  const { text, at: start } = reader;
  const isList = text[start + 1] === "[";
  reader.at += isList ? 2 : 1;
  const segments = readKey(reader);
  reader.at = lineEnd(text, reader.at);
  let place = root;
  for (const segment of segments.slice(0, -1)) {
    place = placeIn(place, segment, start);
    place = place.newest ?? place;
  }
  const named = placeIn(place, segments.at(-1) ?? "", start);
  if (isList) return (named.newest = placeIn(named, String(named.inside?.size ?? 0), start));
  named.offset = start;
  named.end =
    start +
    text
      .slice(start, reader.at)
      .replace(/#[^\]"']*$/, "")
      .trimEnd().length;
  return named;
}

/** Reads `key = value`, including nested values. */
function readEntry(reader: Reader, table: TomlPlace): void {
  const { text, at: start } = reader;
  let place = table;
  for (const segment of readKey(reader)) place = placeIn(place, segment, start);
  if (text[reader.at] !== "=") return;
  place.key = { offset: start, end: start + text.slice(start, reader.at).trimEnd().length };
  reader.at++;
  skipBlanks(reader);
  place.offset = reader.at;
  readValue(reader, place);
}

function readValue(reader: Reader, place: TomlPlace): void {
  skipValue(reader, place);
  place.end = place.offset + reader.text.slice(place.offset, reader.at).trimEnd().length;
}

function skipValue(reader: Reader, place: TomlPlace): void {
  const { text } = reader;
  switch (text.charAt(reader.at)) {
    case '"':
    case "'":
      skipString(reader);
      return;
    case "[":
      readItems(reader, "]", (index) => {
        readValue(reader, placeIn(place, String(index), reader.at));
      });
      return;
    case "{":
      readItems(reader, "}", () => {
        readEntry(reader, place);
      });
      return;
    default:
      while (reader.at < text.length && !",]}#\r\n".includes(text.charAt(reader.at))) reader.at++;
  }
}

function readItems(reader: Reader, close: string, readItem: (index: number) => void): void {
  const { text } = reader;
  reader.at++;
  for (let index = 0; reader.at < text.length; index++) {
    skipFiller(reader);
    const start = reader.at;
    if (text[start] !== close) readItem(index);
    skipFiller(reader);
    if (text[reader.at] === ",") reader.at++;
    else break;
  }
  if (text[reader.at] === close) reader.at++;
}

/** Reads the segments of a dotted key and the whitespace after it. */
function readKey(reader: Reader): string[] {
  const { text } = reader;
  const segments: string[] = [];
  for (;;) {
    skipBlanks(reader);
    const start = reader.at;
    const isQuoted = text[start] === '"' || text[start] === "'";
    if (isQuoted) skipString(reader);
    else while (/[\w-]/.test(text.charAt(reader.at))) reader.at++;
    segments.push(isQuoted ? text.slice(start + 1, reader.at - 1) : text.slice(start, reader.at));
    skipBlanks(reader);
    if (text[reader.at] !== ".") return segments;
    reader.at++;
  }
}

function skipString(reader: Reader): void {
  const { text, at: start } = reader;
  const quote = text.charAt(start);
  const isLong = text.startsWith(quote.repeat(3), start);
  const close = isLong ? quote.repeat(3) : quote;
  reader.at += close.length;
  while (reader.at < text.length && !text.startsWith(close, reader.at)) {
    reader.at += quote === '"' && text[reader.at] === "\\" ? 2 : 1;
  }
  reader.at = Math.min(reader.at + close.length, text.length);
  // The content may end with up to two quotes right before the closing three.
  while (isLong && text[reader.at] === quote) reader.at++;
}

/** Skips whitespace, line breaks and comments. */
function skipFiller(reader: Reader): void {
  const { text } = reader;
  while (reader.at < text.length) {
    if (text[reader.at] === "#") reader.at = lineEnd(text, reader.at);
    else if (" \t\r\n\ufeff".includes(text.charAt(reader.at))) reader.at++;
    else return;
  }
}

function skipBlanks(reader: Reader): void {
  while (reader.text[reader.at] === " " || reader.text[reader.at] === "\t") reader.at++;
}

function lineEnd(text: string, from: number): number {
  const feed = text.indexOf("\n", from);
  return feed < 0 ? text.length : feed;
}

function placeIn(place: TomlPlace, segment: string, offset: number): TomlPlace {
  place.inside ??= new Map();
  const known = place.inside.get(segment);
  if (known !== undefined) return known;
  const made: TomlPlace = { offset };
  place.inside.set(segment, made);
  return made;
}
