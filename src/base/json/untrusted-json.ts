import type { Steps } from "../promises.ts";

/** A parsed untrusted value. */
export interface ParsedJson {
  readonly value: unknown;
  /** By how many bytes it can grow when it is written again: 1e20 has 21 digits. */
  readonly growth: number;
}

/** Nested too deeply. `begun` is the outermost value as far as it was read. */
export class TooDeep extends Error {
  override readonly name = "TooDeep";
  readonly begun: unknown;
  constructor(begun: unknown) {
    super("The value is nested too deeply.");
    this.begun = begun;
  }
}

/** Values, and bytes or characters of one string, between two yields. */
const stride = 500;
const pieceBytes = 64 * 1024;
const longestNumber = 4096;

const [quote, backslash, unicode, comma, colon] = [0x22, 0x5c, 0x75, 0x2c, 0x3a];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

type Holder =
  | { readonly value: unknown[]; readonly closer: typeof closeList }
  | { readonly value: Record<string, unknown>; readonly closer: typeof closeObject; key: string };

/**
 * Parses like `JSON.parse`, except that numbers that overflow, such as 1e999, become null. Yields regularly and does not recurse,
 * because the input is untrusted. Throws a SyntaxError, or `TooDeep`.
 */
export function* parseUntrustedJson(bytes: Buffer, deepest: number): Steps<ParsedJson> {
  const holders: Holder[] = [];
  let at = 0;
  let growth = 0;

  function next(): number | undefined {
    while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at += 1;
    return bytes[at];
  }

  /** In chunks that end between characters and between escapes. */
  function* readText(): Steps<string> {
    if (next() !== quote) throw new SyntaxError("Expected a string.");
    at += 1;
    let text = "";
    for (let start = at, isPlain = true; ;) {
      const byte = bytes[at];
      const isOver = byte === quote;
      if (byte === undefined) throw new SyntaxError("Unterminated string.");
      if (isOver || (at - start >= pieceBytes && (byte & 0xc0) !== 0x80)) {
        const piece = bytes.toString("utf8", start, at);
        text += isPlain ? piece : (JSON.parse(`"${piece}"`) as string);
        if (isOver) break;
        start = at;
        isPlain = true;
        yield;
      }
      if (byte === backslash) at += bytes[at + 1] === unicode ? 6 : 2;
      else at += 1;
      if (byte === backslash || byte < 0x20) isPlain = false;
    }
    at += 1;
    return text;
  }

  function* readKey(): Steps<string> {
    const key = yield* readText();
    if (next() !== colon) throw new SyntaxError("Expected ':' after a key.");
    at += 1;
    return key;
  }

  function readScalar(): unknown {
    const start = at;
    for (let byte = bytes[at]; isOfScalar(byte); byte = bytes[at]) at += 1;
    if (at - start > longestNumber) throw new SyntaxError("Number is too long.");
    const token = bytes.toString("latin1", start, at);
    const scalar: unknown = JSON.parse(token);
    if (typeof scalar !== "number") return scalar;
    if (!Number.isFinite(scalar)) return null;
    growth += Math.max(0, String(scalar).length - token.length);
    return scalar;
  }

  for (let steps = 1; ; steps++) {
    if (steps % stride === 0) yield;
    const byte = next();
    let value: unknown;
    if (byte === openList || byte === openObject) {
      const holder: Holder =
        byte === openList ? { value: [], closer: closeList } : { value: {}, closer: closeObject, key: "" };
      if (holders.length === deepest) throw new TooDeep(holders[0]?.value);
      at += 1;
      if (next() !== holder.closer) {
        holders.push(holder);
        if ("key" in holder) holder.key = yield* readKey();
        continue;
      }
      at += 1;
      value = holder.value;
    } else value = byte === quote ? yield* readText() : readScalar();
    // Add it to its parent; if that completes the parent, add that to its own.
    for (let holder = holders.at(-1); ; holder = holders.at(-1)) {
      const separator = next();
      if (holder === undefined) {
        if (separator !== undefined) throw new SyntaxError("Unexpected data after the value.");
        return { value, growth };
      }
      if ("key" in holder) setField(holder.value, holder.key, value);
      else holder.value.push(value);
      at += 1;
      if (separator === comma) {
        if ("key" in holder) holder.key = yield* readKey();
        break;
      }
      if (separator !== holder.closer) throw new SyntaxError("Expected ',' or a closing bracket.");
      holders.pop();
      value = holder.value;
    }
  }
}

/** Letters, digits, signs and dots. */
function isOfScalar(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const letter = byte | 0x20;
  return (letter >= 0x61 && letter <= 0x7a) || (byte >= 0x2b && byte <= 0x39 && byte !== comma);
}

/** As an own property, even if it is called `__proto__`. */
function setField(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

const pieceLength = 32 * 1024;

interface Level {
  readonly value: Readonly<Record<string | number, unknown>>;
  readonly keys: readonly string[] | undefined;
  readonly size: number;
  at: number;
  isEmpty: boolean;
}

/** Writes JSON like `JSON.stringify`, but yields regularly and does not recurse. */
export function* writeJson(root: unknown): Steps<Buffer> {
  const pieces: Buffer[] = [];
  const levels: Level[] = [];
  let text = "";

  const flush = (): void => {
    pieces.push(Buffer.from(text));
    text = "";
  };
  function* write(value: unknown): Steps<void> {
    if (typeof value === "string") yield* writeText(value);
    else if (typeof value !== "object" || value === null) text += JSON.stringify(value);
    else {
      const keys = Array.isArray(value) ? undefined : Object.keys(value);
      const level = {
        value: value as Level["value"],
        keys,
        size: (keys ?? (value as unknown[])).length,
        at: 0,
        isEmpty: true,
      };
      text += keys === undefined ? "[" : "{";
      levels.push(level);
    }
  }
  /** A long string in chunks, without splitting surrogate pairs. */
  function* writeText(value: string): Steps<void> {
    if (value.length <= pieceLength) {
      text += JSON.stringify(value);
      return;
    }
    text += '"';
    for (let at = 0, end = 0; at < value.length; at = end) {
      end = Math.min(value.length, at + pieceLength);
      if ((value.charCodeAt(end - 1) & 0xfc00) === 0xd800) end += 1;
      text += JSON.stringify(value.slice(at, end)).slice(1, -1);
      flush();
      yield;
    }
    text += '"';
  }

  yield* write(root);
  for (let level = levels.at(-1), steps = 1; level !== undefined; level = levels.at(-1), steps++) {
    if (steps % stride === 0) yield;
    if (text.length > pieceLength) flush();
    const { keys, size, value } = level;
    if (level.at === size) {
      text += keys === undefined ? "]" : "}";
      levels.pop();
      continue;
    }
    const key = keys?.[level.at] ?? level.at;
    const item = value[key];
    level.at += 1;
    // As in `JSON.stringify`, undefined fields are omitted.
    if (typeof key === "string" && item === undefined) continue;
    if (!level.isEmpty) text += ",";
    level.isEmpty = false;
    if (typeof key === "string") {
      yield* writeText(key);
      text += ":";
    }
    yield* write(item ?? null);
  }
  flush();
  return Buffer.concat(pieces);
}
