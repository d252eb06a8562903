/** Text of a program that leaves the run: without control sequences, with secrets masked, and limited in size. */

import { type Steps, runInSlices } from "../../../base/promises.ts";
import { isSkillsError, SkillsError } from "../../../base/errors.ts";
import type { Json, RunError } from "../../sandbox.ts";
import { type MaskOptions, type MaskedStream, type SecretMask, maskSecrets } from "../../secrets/mask-secrets.ts";
import { endOfText, startOfText } from "../../../base/text/content.ts";

/** Terminal control sequences (ECMA-48). No two subpatterns match the same character, so that matching takes linear time. */
const sequences =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0090\u0098\u009b-\u009f]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-~]/g;

/** Removes the control sequences from a program's text; line breaks and tabs stay. */
export function toPlainText(text: string): string {
  return text
    .replace(sequences, "")
    .replace(/\r\n?/g, "\n")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "");
}

/** Works like `toPlainText`, in slices, for bytes of any length. Of a sequence over 256 characters, the end may stay. */
export async function toLongPlainText(bytes: Buffer): Promise<string> {
  return await runInSlices(plainInSteps(bytes.toString("utf8")));
}

const pieceLength = 32 * 1024;
const maxSequenceLength = 256;

function* plainInSteps(text: string): Steps<string> {
  const pieces: string[] = [];
  for (let at = 0, end = 0; at < text.length; at = end) {
    end = at + pieceLength >= text.length ? text.length : beforeSequence(text, at + pieceLength);
    pieces.push(toPlainText(text.slice(at, end)));
    yield;
  }
  return pieces.join("");
}

/** Returns the index at which to cut without splitting a control sequence or a line break. */
function beforeSequence(text: string, end: number): number {
  const last = text
    .slice(end - maxSequenceLength, end)
    .search(/[\u001b\u0090\u0098\u009b\u009d-\u009f][^\u001b\u0090\u0098\u009b\u009d-\u009f]*$|\r$/);
  return last < 0 ? end : end - maxSequenceLength + last;
}

/** Returns the beginning and the end of a text that is longer than `limit` bytes, with its size between them. */
export function toPreview(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return text;
  const gap = `\n… ${bytes.length} bytes in total …\n`;
  const room = Math.max(0, limit - Buffer.byteLength(gap));
  const head = bytes.subarray(0, Math.ceil(room / 2));
  const tail = bytes.subarray(bytes.length - Math.floor(room / 2));
  return head.toString("utf8", 0, endOfText(head)) + gap + tail.toString("utf8", startOfText(tail));
}

/** Masks the secrets of one run in everything that leaves it. */
export interface Mask {
  readonly text: (text: string) => string;
  /** Removes control sequences first, because a secret that one interrupts is whole again without it. */
  readonly plain: (text: string) => string;
  /** Works like `plain`, in slices, for bytes of any length. */
  readonly longPlain: (bytes: Buffer) => Promise<string>;
  readonly json: (value: Json) => Promise<Json>;
  readonly error: (error: RunError) => Promise<RunError>;
  /** Opens the masking of one stream of bytes, in which a secret may span two chunks. */
  stream(): MaskedStream;
  iterable(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
}

/** Creates a mask for `secrets` and the values of `others`. Throws SECRET_MISSING for a secret that cannot be masked. */
export function createMask(
  secrets: Readonly<Record<string, string>>,
  others: readonly string[] = [],
  options: MaskOptions = {},
): Mask {
  const isNeeded = Object.keys(secrets).length > 0 || others.length > 0;
  const { text, longText, json, openStream } = isNeeded ? maskable(secrets, others, options) : nothingToMask;
  const plain: Mask["plain"] = (shown) => text(toPlainText(shown));
  return {
    text,
    plain,
    longPlain: async (bytes) => await longText(await toLongPlainText(bytes)),
    json,
    error: async ({ type, message, details }) => ({
      type: plain(type),
      message: plain(message),
      ...(details && { details: (await json(details)) as NonNullable<RunError["details"]> }),
    }),
    stream: openStream,
    async *iterable(content) {
      const masked = openStream();
      for await (const bytes of content) yield masked.push(bytes);
      yield masked.end();
    },
  };
}

function maskable(
  secrets: Readonly<Record<string, string>>,
  others: readonly string[],
  options: MaskOptions,
): SecretMask {
  try {
    return maskSecrets(secrets, others, options);
  } catch (error) {
    if (!isSkillsError(error) || error.code !== "INVALID_OPTIONS") throw error;
    throw new SkillsError("SECRET_MISSING", error.message, { cause: error });
  }
}

const nothing = new Uint8Array(0);

const nothingToMask: SecretMask = {
  text: (text) => text,
  longText: (text) => Promise.resolve(text),
  json: (value) => Promise.resolve(value),
  openStream: () => ({ push: (bytes) => bytes, end: () => nothing }),
};

/** The beginning and the end of a stream, in bounded memory. */
export class BoundedBytes {
  readonly #limit: number;
  readonly #head: Uint8Array[] = [];
  readonly #tail: Uint8Array[] = [];
  #headSize = 0;
  #tailSize = 0;
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isCut(): boolean {
    return this.#size > this.#limit;
  }

  push(bytes: Uint8Array): void {
    this.#size += bytes.length;
    const room = Math.floor(this.#limit / 2) - this.#headSize;
    if (room > 0) {
      this.#head.push(new Uint8Array(bytes.subarray(0, room)));
      this.#headSize += Math.min(room, bytes.length);
      joinMany(this.#head);
    }
    const rest = room > 0 ? bytes.subarray(room) : bytes;
    if (rest.length === 0) return;
    const limit = this.#tailLimit;
    this.#tail.push(new Uint8Array(rest.subarray(Math.max(0, rest.length - limit))));
    this.#tailSize += this.#tail.at(-1)?.length ?? 0;
    // Drop pieces that the tail no longer needs.
    while (this.#tailSize - (this.#tail[0]?.length ?? 0) >= limit) this.#tailSize -= this.#tail.shift()?.length ?? 0;
    joinMany(this.#tail);
  }

  /** Returns the whole stream, or both ends with a line between them that says how many bytes are missing. */
  read(): Buffer {
    const end = Buffer.concat(this.#tail);
    if (!this.isCut) return Buffer.concat([...this.#head, end]);
    const gap = Buffer.from(`\n… ${this.#size - this.#limit} bytes omitted …\n`);
    return Buffer.concat([...this.#head, gap, end.subarray(end.length - this.#tailLimit)]);
  }

  get #tailLimit(): number {
    return Math.ceil(this.#limit / 2);
  }
}

const maxPieces = 256;

/** Joins many small pieces, because each costs about 100 bytes of memory itself. */
function joinMany(pieces: Uint8Array[]): void {
  if (pieces.length > maxPieces) pieces.splice(0, pieces.length, Buffer.concat(pieces));
}

/** Collects text for a listener and sends it by whole lines. */
export interface LineBatcher {
  readonly push: (text: string) => void;
  /** Flushes an unfinished last line. */
  readonly end: () => void;
}

const maxPieceLength = 2_048;
const maxSent = 1_000;
const maxCharacters = 64 * 1024;

/** Passes text on by whole lines, batched as they arrive, up to 1,000 pieces or 64 Ki characters, to protect the listener. */
export function createLineBatcher(send: (text: string) => void): LineBatcher {
  let held = "";
  let sent = 0;
  let characters = 0;

  function flush(text: string): void {
    for (let start = 0; start < text.length; start += maxPieceLength) {
      if (sent > maxSent || characters > maxCharacters) return;
      const piece = text.slice(start, start + maxPieceLength);
      sent += 1;
      characters += piece.length;
      const isLast = sent > maxSent || characters > maxCharacters;
      send(isLast ? "… (the rest is in the log)\n" : piece);
    }
  }

  return {
    push(text) {
      held += text;
      const end = held.length > maxPieceLength ? held.length : held.lastIndexOf("\n") + 1;
      flush(held.slice(0, end));
      held = held.slice(end);
    },
    end() {
      flush(held);
      held = "";
    },
  };
}
