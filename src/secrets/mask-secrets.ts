import { SkillsError } from "../errors.ts";
import { runInSlices } from "../base/slices.ts";
import type { Steps } from "../base/slices.ts";
import { findNeedles, prepareNeedles } from "./find-needles.ts";
import type { Needles } from "./find-needles.ts";
import { toSecretForms } from "./secret-forms.ts";

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * Puts `***` in the place of secret values, in what leaves a run. So too of their beginnings before a `…`: there, something was
 * cut.
 */
export interface SecretMask {
  /** At once: for a text that is not long. */
  readonly text: (text: string) => string;
  /** In slices: for a text of any length. */
  readonly longText: (text: string) => Promise<string>;
  /** Masks the texts, keys included, and the numbers that are a value in digits. In slices, without recursion. */
  readonly json: (value: Json) => Promise<Json>;
  /** One stream of bytes, such as the stdout of a run. */
  readonly openStream: () => MaskedStream;
}

export interface MaskedStream {
  /** What can be shown by now: all but a beginning that may yet become a value. */
  push(bytes: Uint8Array): Uint8Array;
  /** The rest. Nothing may be pushed afterwards. */
  end(): Uint8Array;
}

/** A shorter value would be masked all over a log, and guessed from where it is missing. */
const shortestValue = 4;

/**
 * Masks these, and the values of `others`. Throws INVALID_OPTIONS for a secret of fewer than four characters: it cannot be
 * masked, so it is none to be handed out.
 */
export function maskSecrets(secrets: Readonly<Record<string, string>>, others: readonly string[] = []): SecretMask {
  const short = Object.keys(secrets).filter((name) => (secrets[name] ?? "").trim().length < shortestValue);
  if (short.length > 0) {
    throw new SkillsError(
      "INVALID_OPTIONS",
      `Secrets need at least ${shortestValue} characters, or they cannot be kept out of logs: ${short.join(", ")}.`,
      { facts: { names: short } },
    );
  }
  const needles = prepareNeedles([...Object.values(secrets), ...others].flatMap(toSecretForms));
  const now = (): number => performance.now();
  return {
    text: (plain) => maskText(plain, needles),
    longText: (plain) => runInSlices(maskLongText(plain, needles), { now, slice }),
    json: (value) => runInSlices(maskJson(value, needles), { now, slice }),
    openStream: () => openStream(needles),
  };
}

/** Milliseconds of the time of this process, without a pause. */
const slice = 3;
/** What is masked between two moments where it may pause. */
const pieceLength = 32 * 1024;
const stride = 500;

function maskText(plain: string, needles: Needles): string {
  // A character takes three bytes at most.
  if (plain.length * 3 < needles.shortest) return plain;
  const stream = openStream(needles);
  const masked = Buffer.concat([stream.push(Buffer.from(plain)), stream.end()]);
  return stream.masked ? masked.toString() : plain;
}

function* maskLongText(plain: string, needles: Needles): Steps<string> {
  if (plain.length <= pieceLength) return maskText(plain, needles);
  const stream = openStream(needles);
  const pieces: Uint8Array[] = [];
  for (let at = 0, end = 0; at < plain.length; at = end) {
    end = Math.min(plain.length, at + pieceLength);
    // Both halves of a character stay together.
    if (end < plain.length && (plain.charCodeAt(end - 1) & 0xfc00) === 0xd800) end += 1;
    pieces.push(stream.push(Buffer.from(plain.slice(at, end))));
    yield;
  }
  pieces.push(stream.end());
  return stream.masked ? Buffer.concat(pieces).toString() : plain;
}

interface Level {
  readonly from: readonly Json[] | { readonly [key: string]: Json };
  readonly to: Json[] | { [key: string]: Json };
  readonly keys: readonly string[] | undefined;
  readonly size: number;
  at: number;
}

function* maskJson(value: Json, needles: Needles): Steps<Json> {
  const result: Json[] = [];
  const levels: Level[] = [{ from: [value], to: result, keys: undefined, size: 1, at: 0 }];
  let steps = 0;
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    if (level.at === level.size) {
      levels.pop();
      continue;
    }
    if (++steps % stride === 0) yield;
    const key = level.keys?.[level.at] ?? level.at;
    level.at += 1;
    const item = (level.from as Readonly<Record<string | number, Json>>)[key] ?? null;
    let masked: Json;
    if (typeof item === "object" && item !== null) {
      const below = openLevel(item);
      levels.push(below);
      masked = below.to;
    } else masked = yield* maskLeaf(item, needles);
    if (typeof key === "number") (level.to as Json[]).push(masked);
    else setField(level.to as { [key: string]: Json }, yield* maskLongText(key, needles), masked);
  }
  return result[0] ?? null;
}

function openLevel(from: Level["from"]): Level {
  if (isList(from)) return { from, to: [], keys: undefined, size: from.length, at: 0 };
  const keys = Object.keys(from);
  return { from, to: {}, keys, size: keys.length, at: 0 };
}

function* maskLeaf(value: null | boolean | number | string, needles: Needles): Steps<Json> {
  if (typeof value === "string") return yield* maskLongText(value, needles);
  if (typeof value !== "number") return value;
  const digits = String(value);
  const shown = maskText(digits, needles);
  return shown === digits ? value : shown;
}

function setField(object: { [key: string]: Json }, key: string, value: Json): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

function isList(value: Level["from"]): value is readonly Json[] {
  return Array.isArray(value);
}

const stars = Buffer.from("***");
const [cutFirst, cutSecond, cutThird] = Buffer.from("…") as unknown as [number, number, number];
/** Fewer bytes of a value that was cut off say nothing. */
const shortestBeginning = 4;

interface Range {
  from: number;
  readonly to: number;
}

/** Offsets count from the beginning of the stream. */
function openStream(needles: Needles): MaskedStream & { readonly masked: boolean } {
  const finder = findNeedles(needles);
  /** Found, in order, apart from each other, and not yet written. */
  const ranges: Range[] = [];
  let kept: Buffer = Buffer.alloc(0);
  /** Up to here, everything is written or masked; `kept` begins here. */
  let written = 0;
  let read = 0;
  /** Where the last mask that was written ends: one that touches it is the same. */
  let lastMask = -1;
  /** How many bytes of a value had begun before a `…`, and how many of its bytes are there: 0 where it is none. */
  let beginning = 0;
  let cut = 0;

  const mark = (start: number, end: number): void => {
    let [from, to] = [start, end];
    for (let last = ranges.at(-1); last !== undefined && last.to >= from; last = ranges.at(-1)) {
      from = Math.min(from, last.from);
      to = Math.max(to, last.to);
      ranges.pop();
    }
    ranges.push({ from, to });
  };
  const watchForCut = (byte: number, begun: number): void => {
    if (byte === cutFirst) {
      beginning = begun;
      cut = begun >= shortestBeginning ? 1 : 0;
    } else if (cut === 1 && byte === cutSecond) cut = 2;
    else {
      if (cut === 2 && byte === cutThird) mark(read - 3 - beginning, read - 3);
      cut = 0;
    }
  };
  const write = (decided: number): Buffer => {
    const pieces: Buffer[] = [];
    const start = written;
    const later = ranges.findIndex(({ from }) => from > decided);
    // What begins later may yet prove to be the midst of a longer value.
    for (const { from, to } of ranges.splice(0, later < 0 ? ranges.length : later)) {
      if (from > written) pieces.push(kept.subarray(written - start, from - start));
      if (from > lastMask) pieces.push(stars);
      written = lastMask = to;
    }
    if (decided > written) {
      pieces.push(kept.subarray(written - start, decided - start));
      written = decided;
    }
    kept = kept.subarray(written - start);
    return Buffer.concat(pieces);
  };
  return {
    push(bytes) {
      kept = kept.length === 0 ? Buffer.from(bytes) : Buffer.concat([kept, bytes]);
      for (let at = 0; at < bytes.length; at++) {
        const { begun } = finder;
        if (begun === 0 && cut === 0) {
          const next = needles.nextStart(bytes, at);
          read += next - at;
          at = next;
        }
        const byte = bytes[at];
        if (byte === undefined) break;
        const found = finder.step(byte);
        read += 1;
        if (found > 0) mark(read - found, read);
        if (cut > 0 || byte === cutFirst) watchForCut(byte, begun);
      }
      return write(read - Math.max(finder.begun, cut > 0 ? cut + beginning : 0));
    },
    end: () => write(read),
    get masked() {
      return lastMask >= 0;
    },
  };
}
