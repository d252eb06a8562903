import type { TextRange } from "../failures/file-problem.ts";

interface Span {
  readonly offset: number;
  readonly end: number;
}

export interface JsonEntry extends Span {
  /** The range is that of the key. */
  readonly key: string;
  readonly node: JsonNode;
}

/** A value of a JSON text, and where it is. */
export type JsonNode = Span &
  (
    | { readonly type: "object"; readonly entries: readonly JsonEntry[] }
    | { readonly type: "array"; readonly items: readonly JsonNode[] }
    | { readonly type: "scalar"; readonly value: string | number | boolean | null }
  );

/** Where a text is not JSON, and why. */
export interface JsonFault extends Span {
  readonly message: string;
  readonly fix: string;
}

const deepest = 16;
const blanks = /[ \t\r\n]*/y;
const word = /[\w.+-]+/y;
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
// Code units below U+0020 must be escaped.
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

/** Reads JSON with the positions of its keys and values, and with keys that occur twice, unlike JSON.parse. */
export function parseJsonNode(text: string): JsonNode | { readonly fault: JsonFault } {
  try {
    return new JsonReader(text).readAll();
  } catch (error) {
    if (error instanceof NotJson) return { fault: error.fault };
    throw error;
  }
}

/** The plain value. Of keys that occur twice, the last one counts. */
export function valueOf(node: JsonNode): unknown {
  if (node.type === "scalar") return node.value;
  if (node.type === "array") return node.items.map(valueOf);
  return Object.fromEntries(node.entries.map(({ key, node: inner }) => [key, valueOf(inner)]));
}

export function rangeOf(text: string, { offset, end }: Span): TextRange {
  const [line, column] = placeOf(text, offset);
  const [endLine, endColumn] = placeOf(text, Math.max(end, offset + 1));
  return { line, column, endLine, endColumn };
}

function placeOf(text: string, offset: number): readonly [line: number, column: number] {
  const lines = text.slice(0, offset).split(/\r\n?|\n/);
  return [lines.length, Array.from(lines.at(-1) ?? "").length + 1];
}

class NotJson extends Error {
  readonly fault: JsonFault;

  constructor(fault: JsonFault) {
    super(fault.message);
    this.fault = fault;
  }
}

class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readAll(): JsonNode {
    const node = this.#read(0);
    this.#take(blanks);
    if (this.#at < this.#text.length) this.#refuse("text after the end of the JSON value", "Remove it.");
    return node;
  }

  #read(depth: number): JsonNode {
    this.#take(blanks);
    if (depth > deepest) this.#refuse(`more than ${deepest} levels`, "Nest less deeply.");
    const next = this.#text[this.#at];
    if (next === "{") return this.#readObject(depth);
    if (next === "[") return this.#readArray(depth);
    const offset = this.#at;
    const value = next === '"' ? this.#readString() : this.#readWord();
    return { type: "scalar", value, offset, end: this.#at };
  }

  #readObject(depth: number): JsonNode {
    const offset = this.#at;
    const entries: JsonEntry[] = [];
    this.#readList("}", () => {
      const start = this.#at;
      if (this.#text[start] !== '"')
        this.#refuse(`expected a key in quotes, got ${this.#shown()}`, 'Write "key": value.');
      const key = this.#readString();
      const end = this.#at;
      this.#take(blanks);
      if (this.#text[this.#at] !== ":")
        this.#refuse(`expected : after the key, got ${this.#shown()}`, 'Write "key": value.');
      this.#at++;
      entries.push({ key, offset: start, end, node: this.#read(depth + 1) });
    });
    return { type: "object", entries, offset, end: this.#at };
  }

  #readArray(depth: number): JsonNode {
    const offset = this.#at;
    const items: JsonNode[] = [];
    this.#readList("]", () => items.push(this.#read(depth + 1)));
    return { type: "array", items, offset, end: this.#at };
  }

  #readList(close: "]" | "}", readItem: () => void): void {
    this.#at++;
    this.#take(blanks);
    if (this.#text[this.#at] === close) {
      this.#at++;
      return;
    }
    for (;;) {
      readItem();
      this.#take(blanks);
      const next = this.#text[this.#at];
      if (next !== "," && next !== close)
        this.#refuse(`expected , or ${close}, got ${this.#shown()}`, "Separate items by commas.");
      const comma = this.#at++;
      if (next === close) return;
      this.#take(blanks);
      if (this.#text[this.#at] !== close) continue;
      this.#at = comma;
      this.#refuse(`a comma before ${close}`, "Remove the comma.");
    }
  }

  #readString(): string {
    const taken = this.#take(string);
    if (taken === "")
      this.#refuse("a string that does not end, or has an invalid escape", "Close it with a quote on the same line.");
    return JSON.parse(taken) as string;
  }

  #readWord(): number | boolean | null {
    const offset = this.#at;
    const taken = this.#take(word);
    if (taken === "true" || taken === "false") return taken === "true";
    if (taken === "null") return null;
    if (number.test(taken)) return Number(taken);
    this.#at = offset;
    const isComment = this.#text[offset] === "/" || this.#text[offset] === "#";
    if (isComment) this.#refuse("a comment, which JSON does not have", "Remove it.");
    return this.#refuse(
      `expected a value, got ${this.#shown()}`,
      "Write a string in quotes, a number, true, false, [ or {.",
    );
  }

  #shown(): string {
    this.#take(blanks);
    const [first] = this.#text.slice(this.#at, this.#at + 2);
    return first === undefined ? "the end of the file" : JSON.stringify(first);
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const taken = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += taken.length;
    return taken;
  }

  #refuse(message: string, fix: string): never {
    throw new NotJson({ message, fix, offset: this.#at, end: this.#at + 1 });
  }
}

export type JsonPath = readonly (string | number)[];

/** The value at this path; if there is none, the innermost value that encloses the path. */
export function nodeAt(root: JsonNode, path: JsonPath): JsonNode {
  let node = root;
  for (const step of path) {
    const inner = childOf(node, step);
    if (inner === undefined) return node;
    node = inner;
  }
  return node;
}

/** The value of a key, of which the last one counts, or of an index. */
export function childOf(node: JsonNode, step: string | number): JsonNode | undefined {
  if (node.type === "object") return node.entries.findLast(({ key }) => key === step)?.node;
  return node.type === "array" ? node.items[Number(step)] : undefined;
}

/** Keys that occur twice in one object, at their later places. */
export function* repeatedKeys(
  node: JsonNode,
): Generator<{ readonly key: string; readonly offset: number; readonly end: number }, void> {
  // prettier-ignore
  if (node.type === "array") for (const item of node.items) yield* repeatedKeys(item);
  if (node.type !== "object") return;
  const seen = new Set<string>();
  for (const entry of node.entries) {
    if (seen.has(entry.key)) yield entry;
    seen.add(entry.key);
    yield* repeatedKeys(entry.node);
  }
}
