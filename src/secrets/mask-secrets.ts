import { SkillsError } from "../errors.ts";
import { findNeedles, prepareNeedles } from "./find-needles.ts";
import type { Needles } from "./find-needles.ts";
import { toSecretForms } from "./secret-forms.ts";

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Puts `***` in the place of secret values, in what leaves a run. */
export interface SecretMask {
  readonly text: (text: string) => string;
  /** Masks the texts, keys included, and the numbers that are a value in digits. */
  readonly json: (value: Json) => Json;
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
  const text = (plain: string): string => {
    const stream = openStream(needles);
    const masked = Buffer.concat([stream.push(Buffer.from(plain)), stream.end()]);
    return stream.masked ? masked.toString() : plain;
  };
  return { text, json: (value) => maskJson(value, text), openStream: () => openStream(needles) };
}

function maskJson(value: Json, text: (plain: string) => string): Json {
  if (typeof value === "string") return text(value);
  if (typeof value === "number") {
    const shown = text(String(value));
    return shown === String(value) ? value : shown;
  }
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map((item) => maskJson(item, text));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [text(key), maskJson(item, text)]));
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

const stars = Buffer.from("***");

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

  const mark = (length: number): void => {
    let from = read - length;
    for (let last = ranges.at(-1); last !== undefined && last.to >= from; last = ranges.at(-1)) {
      from = Math.min(from, last.from);
      ranges.pop();
    }
    ranges.push({ from, to: read });
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
      for (const byte of bytes) {
        const found = finder.step(byte);
        read += 1;
        if (found > 0) mark(found);
      }
      return write(read - finder.begun);
    },
    end: () => write(read),
    get masked() {
      return lastMask >= 0;
    },
  };
}
