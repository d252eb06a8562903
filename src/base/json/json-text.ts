import type { TextRange } from "../failures/file-problem.ts";
import { createTextPositions, toTextRange } from "../text/text-positions.ts";

interface Span {
  readonly offset: number;
  readonly end: number;
}

export interface JsonEntry extends Span {
  /** The key; the range of the entry is the range of its key. */
  readonly key: string;
  readonly node: JsonNode;
}

/** A value of a JSON text with its range. */
export type JsonNode = Span &
  (
    | { readonly type: "object"; readonly entries: readonly JsonEntry[] }
    | { readonly type: "array"; readonly items: readonly JsonNode[] }
    | { readonly type: "scalar"; readonly value: string | number | boolean | null }
  );

/** The reason why a text is not JSON, with its range. */
export interface JsonFault extends Span {
  readonly message: string;
  readonly fix: string;
}

const deepest = 16;
/** A token, after blanks. In strings, code units below U+0020 must be escaped. */
const token =
  /[ \t\r\n]*([[\]{}:,]|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-]))?/y;

interface Token extends Span {
  /** Empty at the end of the text, and if no token begins here. */
  readonly word: string;
}

class NotJson extends Error {
  readonly fault: JsonFault;

  constructor(fault: JsonFault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** Reads JSON and retains the positions of keys and values and any repeated keys, unlike JSON.parse. */
export function parseJsonNode(text: string): JsonNode | { readonly fault: JsonFault } {
  let at = 0;

  function take(): Token {
    token.lastIndex = at;
    const [all = "", word = ""] = token.exec(text) ?? [];
    at += all.length;
    return { word, offset: at - word.length, end: at };
  }
  function refuse(expected: string, { offset }: Token): never {
    const got = offset === text.length ? "the end of the file" : JSON.stringify(text[offset]);
    const fix = "Write JSON: keys and texts in double quotes, commas only between items, no comments.";
    throw new NotJson({ message: `expected ${expected}, got ${got}`, fix, offset, end: offset + 1 });
  }
  function readNode(first: Token, depth: number): JsonNode {
    const { word, offset, end } = first;
    if (depth > deepest) refuse(`at most ${deepest} levels`, first);
    if (word === "{") {
      const entries: JsonEntry[] = [];
      const readEntry = (key: Token): void => {
        if (!key.word.startsWith('"')) refuse("a key in quotes", key);
        const colon = take();
        if (colon.word !== ":") refuse(": after the key", colon);
        const node = readNode(take(), depth + 1);
        entries.push({ key: JSON.parse(key.word) as string, offset: key.offset, end: key.end, node });
      };
      return { type: "object", entries, offset, end: readList("}", readEntry) };
    }
    if (word === "[") {
      const items: JsonNode[] = [];
      return { type: "array", items, offset, end: readList("]", (item) => items.push(readNode(item, depth + 1))) };
    }
    if (!/^["\w-]/.test(word)) refuse("a value", first);
    return { type: "scalar", value: JSON.parse(word) as string | number | boolean | null, offset, end };
  }
  /** Returns the offset after the closing bracket. */
  function readList(close: "]" | "}", readItem: (first: Token) => void): number {
    for (let next = take(), isFirst = true; !isFirst || next.word !== close; next = take(), isFirst = false) {
      readItem(next);
      const separator = take();
      if (separator.word === close) return separator.end;
      if (separator.word !== ",") refuse(`, or ${close}`, separator);
    }
    return at;
  }

  try {
    const node = readNode(take(), 0);
    const rest = take();
    if (rest.offset < text.length) refuse("the end of the file", rest);
    return node;
  } catch (error) {
    if (error instanceof NotJson) return { fault: error.fault };
    throw error;
  }
}

/** The plain value. If a key occurs twice, the last one counts. */
export function valueOf(node: JsonNode): unknown {
  if (node.type === "scalar") return node.value;
  if (node.type === "array") return node.items.map(valueOf);
  return Object.fromEntries(node.entries.map(({ key, node: inner }) => [key, valueOf(inner)]));
}

export function rangeOf(text: string, { offset, end }: Span): TextRange {
  return toTextRange(createTextPositions(text), offset, Math.max(end, offset + 1));
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

/** The value of a key or of an index. If a key occurs twice, the last one counts. */
export function childOf(node: JsonNode, step: string | number): JsonNode | undefined {
  if (node.type === "object") return node.entries.findLast(({ key }) => key === step)?.node;
  return node.type === "array" ? node.items[Number(step)] : undefined;
}

/** The entries whose key occurred before in the same object. */
export function* repeatedKeys(node: JsonNode): Generator<JsonEntry, void> {
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
