import type { TextRange } from "../../base/failures/file-problem.ts";
import { createTextPositions, toTextRange } from "./text-positions.ts";

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
    root ??= new TomlReader(text).readAll();
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

const blanks = /[ \t]*/y;
/** Whitespace, line breaks and comments. */
const filler = /(?:[ \t\r\n\ufeff]|#[^\n]*)*/y;
/** The content of a multi-line string may end with up to two quotes right before the closing three. */
const string = /"""(?:[^"\\]|\\[^]|"(?!""))*"{3,5}|'''(?:[^']|'(?!''))*'{3,5}|"(?:[^"\\\r\n]|\\.)*"|'[^'\r\n]*'/y;
const bareKey = /[\w-]+/y;
const bareValue = /[^,\]}#\r\n]*/y;

/**
 * Finds the positions in TOML: of keys and items at their value, of tables at their header, and of tables that only a
 * longer name implies at that name. In invalid TOML, the result is incomplete or wrong.
 */
class TomlReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readAll(): TomlPlace {
    const root: TomlPlace = { offset: 0 };
    let table = root;
    for (this.#take(filler); this.#at < this.#text.length; this.#take(filler)) {
      const start = this.#at;
      if (this.#text[start] === "[") table = this.#readHeader(root);
      else this.#readEntry(table);
      if (this.#at === start) this.#at++;
    }
    return root;
  }

  /** Skips what a sticky pattern matches here, and returns it. */
  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const taken = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += taken.length;
    return taken;
  }

  #readHeader(root: TomlPlace): TomlPlace {
    const offset = this.#at;
    const isList = this.#take(/\[{1,2}/y) === "[[";
    const segments = this.#readKey();
    this.#take(/\]*/y);
    let place = root;
    for (const segment of segments.slice(0, -1)) {
      place = placeIn(place, segment, offset);
      place = place.newest ?? place;
    }
    const named = placeIn(place, segments.at(-1) ?? "", offset);
    if (isList) return (named.newest = placeIn(named, String(named.inside?.size ?? 0), offset));
    return Object.assign(named, { offset, end: this.#at });
  }

  /** Reads the segments of a dotted key and the whitespace after it. */
  #readKey(): string[] {
    const segments: string[] = [];
    do {
      this.#take(blanks);
      segments.push(this.#take(string).slice(1, -1) || this.#take(bareKey));
      this.#take(blanks);
    } while (this.#take(/\./y) !== "");
    return segments;
  }

  /** Reads `key = value`, including nested values. */
  #readEntry(table: TomlPlace): void {
    const offset = this.#at;
    let place = table;
    for (const segment of this.#readKey()) place = placeIn(place, segment, offset);
    const end = offset + this.#text.slice(offset, this.#at).trimEnd().length;
    if (this.#take(/=[ \t]*/y) === "") return;
    place.key = { offset, end };
    this.#readValue(place);
  }

  #readValue(place: TomlPlace): void {
    place.offset = this.#at;
    const opening = this.#take(/[[{]/y);
    if (opening === "[") {
      this.#readItems(/\]/y, (index) => {
        this.#readValue(placeIn(place, String(index), this.#at));
      });
    } else if (opening === "{") {
      this.#readItems(/\}/y, () => {
        this.#readEntry(place);
      });
    } else if (this.#take(string) === "") {
      this.#take(bareValue);
    }
    place.end = place.offset + this.#text.slice(place.offset, this.#at).trimEnd().length;
  }

  #readItems(close: RegExp, readItem: (index: number) => void): void {
    for (let index = 0; ; index++) {
      this.#take(filler);
      if (this.#take(close) !== "" || this.#at >= this.#text.length) return;
      readItem(index);
      this.#take(filler);
      if (this.#take(/,/y) !== "") continue;
      this.#take(close);
      return;
    }
  }
}

function placeIn(place: TomlPlace, segment: string, offset: number): TomlPlace {
  place.inside ??= new Map();
  const known = place.inside.get(segment);
  if (known !== undefined) return known;
  const made: TomlPlace = { offset };
  place.inside.set(segment, made);
  return made;
}
