import type { Steps } from "../../base/slices.ts";

/** Values, and characters of one string, between two yields. */
const stride = 500;
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
