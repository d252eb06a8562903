import { SkillsError } from "../../base/errors.ts";
import { type Steps, runInSlices } from "../../base/promises.ts";
import { type Needles, findNeedles, prepareNeedles, toSecretForms } from "./find-needles.ts";

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Replaces secret values in the output of a run by `***`, also prefixes of them before a `…`, which marks truncated text. */
export interface SecretMask {
  /** Masks a short text, synchronously. */
  readonly text: (text: string) => string;
  /** Masks a text of any length. Yields regularly. */
  readonly longText: (text: string) => Promise<string>;
  /** Masks strings, keys, and numbers whose digits are a secret. Yields regularly. */
  readonly json: (value: Json) => Promise<Json>;
  /** Opens a mask for one stream of bytes, such as the stdout of a run. */
  readonly openStream: () => MaskedStream;
}

export interface MaskedStream {
  /** Returns the decided bytes: everything except a suffix that may still become a secret. */
  push(bytes: Uint8Array): Uint8Array;
  /** Ends the stream, and returns the remaining bytes. */
  end(): Uint8Array;
}

export interface MaskOptions {
  /**
   * Whether prefixes of values before a `…` are masked as well. Must be false for text that code can read: code could guess a value
   * character by character.
   */
  readonly cuts?: boolean;
}

type HiddenForms = Needles & Required<MaskOptions>;

/** Masking shorter values would garble logs and reveal the value. */
const minValueLength = 4;

/** Masks `secrets` and the values `others`. Throws INVALID_OPTIONS for a secret that is too short to be masked. */
export function maskSecrets(
  secrets: Readonly<Record<string, string>>,
  others: readonly string[] = [],
  { cuts = true }: MaskOptions = {},
): SecretMask {
  const short = Object.keys(secrets).filter((name) => (secrets[name] ?? "").trim().length < minValueLength);
  if (short.length > 0) {
    const message = `Secrets must have at least ${minValueLength} characters to be masked in logs: ${short.join(", ")}.`;
    throw new SkillsError("INVALID_OPTIONS", message, { facts: { names: short } });
  }
  const needles = { ...prepareNeedles([...Object.values(secrets), ...others].flatMap(toSecretForms)), cuts };
  return {
    text: (plain) => maskText(plain, needles),
    longText: (plain) => runInSlices(maskLongText(plain, needles)),
    json: (value) => runInSlices(maskJson(value, needles)),
    openStream: () => openStream(needles),
  };
}

/** Shorter values could be guessed by everyone who sees which text is masked. */
export const minSentValueLength = 8;

/**
 * Masks the values in bytes that code gets, in any encoding that a server may choose by itself. Masks only whole values: code that saw a
 * masked prefix could guess the value character by character.
 */
export function maskForCode(values: readonly string[]): (bytes: Uint8Array) => Promise<Uint8Array> {
  const forms = values.flatMap((value) => {
    const wide = Buffer.from(value, "utf16le");
    return [...toSecretForms(value), wide, Buffer.from(wide).swap16()];
  });
  const needles = { ...prepareNeedles(forms), cuts: false };
  return async (bytes) => await runInSlices(maskBytes(bytes, needles));
}

function* maskBytes(bytes: Uint8Array, needles: HiddenForms): Steps<Uint8Array> {
  const stream = openStream(needles);
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += pieceLength) {
    pieces.push(stream.push(bytes.subarray(at, at + pieceLength)));
    yield;
  }
  return Buffer.concat([...pieces, stream.end()]);
}

/** Characters, and JSON values, between two yields. */
const pieceLength = 32 * 1024;
const stride = 500;

function maskText(plain: string, needles: HiddenForms): string {
  // A UTF-16 unit takes at most three bytes.
  if (plain.length * 3 < needles.minLength) return plain;
  const stream = openStream(needles);
  const masked = Buffer.concat([stream.push(Buffer.from(plain)), stream.end()]);
  return stream.masked ? masked.toString() : plain;
}

function* maskLongText(plain: string, needles: HiddenForms): Steps<string> {
  if (plain.length <= pieceLength) return maskText(plain, needles);
  const stream = openStream(needles);
  const pieces: Uint8Array[] = [];
  for (let at = 0, end = 0; at < plain.length; at = end) {
    end = Math.min(plain.length, at + pieceLength);
    // Do not split a surrogate pair.
    if (end < plain.length && (plain.charCodeAt(end - 1) & 0xfc00) === 0xd800) end += 1;
    pieces.push(stream.push(Buffer.from(plain.slice(at, end))));
    yield;
  }
  pieces.push(stream.end());
  return stream.masked ? Buffer.concat(pieces).toString() : plain;
}

/** Masks JSON recursively: JSON of runs is at most 200 levels deep. */
function* maskJson(value: Json, needles: HiddenForms): Steps<Json> {
  if (typeof value === "string") return yield* maskLongText(value, needles);
  if (typeof value === "number") {
    const digits = String(value);
    const shown = maskText(digits, needles);
    return shown === digits ? value : shown;
  }
  if (typeof value !== "object" || value === null) return value;
  const fields: [string, Json][] = [];
  for (const [key, item] of Object.entries(value)) {
    if (fields.length % stride === 0) yield;
    const name = Array.isArray(value) ? key : yield* maskLongText(key, needles);
    fields.push([name, yield* maskJson(item, needles)]);
  }
  return Array.isArray(value) ? fields.map(([, item]) => item) : Object.fromEntries(fields);
}

const stars = Buffer.from("***");
const [cutFirst, cutSecond, cutThird] = Buffer.from("…") as unknown as [number, number, number];
/** Shorter prefixes reveal nothing. */
const minPrefixLength = 4;

/** Opens a masked stream. Offsets are from the start of the stream. */
function openStream(needles: HiddenForms): MaskedStream & { readonly masked: boolean } {
  const finder = findNeedles(needles);
  /** The secrets that were found and not yet written; ordered and disjoint. */
  const ranges: { readonly from: number; readonly to: number }[] = [];
  let buffered: Buffer = Buffer.alloc(0);
  /** Everything before is written or masked; `buffered` starts here. */
  let written = 0;
  let read = 0;
  /** The end of the last written mask: an adjacent one is merged with it. */
  let lastMask = -1;
  /** Length of a secret's prefix before a `…`, and how many bytes of that `…` were read. */
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
      cut = begun >= minPrefixLength ? 1 : 0;
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
    // Later ranges may still become part of a longer one.
    for (const { from, to } of ranges.splice(0, later < 0 ? ranges.length : later)) {
      if (from > written) pieces.push(buffered.subarray(written - start, from - start));
      if (from > lastMask) pieces.push(stars);
      written = lastMask = to;
    }
    if (decided > written) {
      pieces.push(buffered.subarray(written - start, decided - start));
      written = decided;
    }
    buffered = buffered.subarray(written - start);
    return Buffer.concat(pieces);
  };
  return {
    push(bytes) {
      buffered = buffered.length === 0 ? Buffer.from(bytes) : Buffer.concat([buffered, bytes]);
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
        if (needles.cuts && (cut > 0 || byte === cutFirst)) watchForCut(byte, begun);
      }
      return write(read - Math.max(finder.begun, cut > 0 ? cut + beginning : 0));
    },
    end: () => write(read),
    get masked() {
      return lastMask >= 0;
    },
  };
}
