import { isLineEnd, quoteEnd, skipBlanks, yamlKeyAt } from "../yaml/yaml-key.ts";
import { nextLine } from "./text-positions.ts";

/** A range of a text; a single position if it has no end. */
export interface KeyRange {
  readonly offset: number;
  readonly end?: number;
}

/**
 * Returns the range of a top-level key of a YAML mapping, or of the key `child` inside it, or of the value if it starts on the line of
 * the key; the start of the text if there is no such key. The keys are found once, by lines and indentation.
 */
export function openKeyRanges(text: string): (key: string, part: "key" | "value", child?: string) => KeyRange {
  let places: ReadonlyMap<string, Place> | undefined;
  const children = new Map<string, ReadonlyMap<string, Place>>();
  return (key, part, child) => {
    places ??= keysAt(text, 0, text.length, 0);
    const place = places.get(key);
    if (place === undefined) return { offset: 0 };
    if (child !== undefined) {
      const inner = children.get(key) ?? childPlaces(text, place);
      children.set(key, inner);
      const found = inner.get(child);
      if (found !== undefined) return keyRange(text, found.start, child);
    }
    if (part === "key" || isLineEnd(text, place.value)) return keyRange(text, place.start, key);
    return { offset: place.value, end: place.value + text.slice(place.value, place.end).trimEnd().length };
  };
}

function keyRange(text: string, start: number, key: string): KeyRange {
  const quotes = text[start] === '"' || text[start] === "'" ? 2 : 0;
  return { offset: start, end: start + key.length + quotes };
}

interface Place {
  readonly start: number;
  /** After the colon and whitespace. */
  readonly value: number;
  /** Start of the next key of the same mapping, or end of the text. */
  end: number;
}

/** The keys between two offsets with exactly this indentation; the first of duplicate keys counts. */
function keysAt(text: string, from: number, to: number, indent: number): Map<string, Place> {
  const places = new Map<string, Place>();
  let open: Place | undefined;
  for (let line = from; line < to; line = nextLine(text, line)) {
    const start = line + indent;
    if (skipBlanks(text, line) !== start) continue;
    const found = yamlKeyAt(text, start);
    if (found === undefined) continue;
    if (open !== undefined) open.end = line;
    open = { start, value: found.value, end: to };
    if (!places.has(found.key)) places.set(found.key, open);
  }
  return places;
}

function childPlaces(text: string, { value, end }: Place): ReadonlyMap<string, Place> {
  if (text[value] === "{") return flowKeys(text, value, end);
  for (let line = nextLine(text, value); line < end; line = nextLine(text, line)) {
    const start = skipBlanks(text, line);
    if (isLineEnd(text, start) || text[start] === "#") continue;
    return keysAt(text, line, end, start - line);
  }
  return new Map();
}

/** The keys of a flow mapping, without those of nested values. */
function flowKeys(text: string, from: number, to: number): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  let depth = 0;
  for (let index = from; index < to; index++) {
    const character = text[index];
    if (character === "[" || character === "{") depth++;
    else if (character === "]" || character === "}") depth--;
    else if (character === '"' || character === "'") index = quoteEnd(text, index, to);
    if (depth === 0) break;
    if (depth > 1 || (character !== "{" && character !== ",")) continue;
    const start = skipBlanks(text, index + 1);
    const found = yamlKeyAt(text, start, flowMarks);
    if (found === undefined) continue;
    if (!places.has(found.key)) places.set(found.key, { start, value: found.value, end: to });
    index = found.value - 1;
  }
  return places;
}

/** Characters that end a plain key without a value in a flow mapping. */
const flowMarks = ",[]{}";
