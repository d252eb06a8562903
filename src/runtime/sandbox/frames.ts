import type { Readable, Writable } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import { isObject, maxJsonDepth, parseUntrustedJson } from "../../base/json/json-value.ts";

/** All limits on frames and calls between a run and its host. Printed output has its own limit. */
export const frameLimits = {
  /** Bytes of one header from the run: a result of 4 MiB with some escapes. */
  headerBytes: 5 * 1024 * 1024,
  /** Bytes of one header to the run. */
  sentBytes: 8 * 1024 * 1024,
  /** Bytes of headers in a burst, and per second. Beyond that, the host stops reading and the program blocks. */
  burstBytes: 16 * 1024 * 1024,
  bytesPerSecond: 4 * 1024 * 1024,
  /** Calls in a burst, and per second: of brokered skills, to create blobs, and to make requests. Limited in the same way. */
  burstCalls: 500,
  callsPerSecond: 200,
} as const;

/** The limits of requests with a secret, and of their answers. */
export const requestLimits = {
  /** Requests of one run. */
  requests: 100,
  atOnce: 4,
  bodyBytes: 1024 * 1024,
  answerBytes: 4 * 1024 * 1024,
  urlBytes: 8 * 1024,
  headers: 64,
  headerBytes: 16 * 1024,
  /** The maximum time; less if the program asks for less, or the run has less time left. */
  timeoutMs: 60_000,
} as const;

/** A JSON object with a `type`, and the raw bytes that follow it. */
export interface Frame {
  readonly header: { readonly type: string; readonly [key: string]: unknown };
  readonly headerBytes: number;
  readonly size: number;
  /** Exactly `size` bytes; throws if the stream ends earlier. Unread bytes are skipped by `next`. */
  readonly payload: AsyncIterable<Uint8Array>;
}

/** The other side violated the protocol. */
export class FrameFault extends Error {
  override readonly name = "FrameFault";
}

export interface FrameReader {
  /** The next frame, or `undefined` at the end of the stream. Throws only `FrameFault`. */
  next(): Promise<Frame | undefined>;
}

/** Reads untrusted frames. Holds at most one header and one chunk of payload. */
export function readFrames(stream: Readable): FrameReader {
  const bytes = pullBytes(stream);
  let payloadLeft = 0;

  async function* readPayload(): AsyncGenerator<Uint8Array> {
    while (payloadLeft > 0) {
      const piece = await bytes.upTo(payloadLeft);
      if (piece === undefined) throw new FrameFault("The stream ended inside a payload.");
      payloadLeft -= piece.length;
      yield piece;
    }
  }

  return {
    async next() {
      const skipped = readPayload();
      while (!(await skipped.next()).done);
      const start = await bytes.exactly(4);
      if (start === undefined) return undefined;
      const length = start.readUInt32BE();
      if (length > frameLimits.headerBytes) throw new FrameFault(`A header of ${length} bytes is too long.`);
      const text = await bytes.exactly(length);
      if (text === undefined) throw new FrameFault("The stream ended inside a header.");
      const header = parseHeader(text);
      const size = header["bytes"] ?? 0;
      if (!Number.isSafeInteger(size) || (size as number) < 0) throw new FrameFault("A payload has an invalid length.");
      payloadLeft = size as number;
      return { header, headerBytes: length, size: payloadLeft, payload: readPayload() };
    },
  };
}

/** Encodes a frame without payload. Throws a `RangeError` if it is too large. */
export function encodeFrame(header: { readonly type: string; readonly [key: string]: unknown }): Buffer {
  const text = Buffer.from(JSON.stringify(header));
  if (text.length > frameLimits.sentBytes)
    throw new RangeError(`${text.length} bytes exceed the limit for a frame header.`);
  const start = Buffer.alloc(4);
  start.writeUInt32BE(text.length);
  return Buffer.concat([start, text]);
}

/** Sends a frame; does nothing if the stream is closed. */
export function sendFrame(stream: Writable, header: { readonly type: string; readonly [key: string]: unknown }): void {
  const frame = encodeFrame(header);
  if (stream.writable) stream.write(frame);
}

function parseHeader(text: Buffer): Frame["header"] {
  let header: unknown;
  try {
    // The header itself is one level.
    header = parseUntrustedJson(text, 1 + maxJsonDepth);
  } catch (cause) {
    throw new FrameFault("A frame header is not valid JSON, or is nested too deeply.", { cause });
  }
  if (!isObject(header) || typeof header["type"] !== "string") throw new FrameFault("A frame header has no type.");
  return header as Frame["header"];
}

const firstBytes = 64 * 1024;

/** Reads bytes on request. The stream stays paused: unread data stays in the pipe, and the writer blocks. */
function pullBytes(stream: Readable) {
  let rest: Buffer = Buffer.alloc(0);
  // Node discards unread data of a child that exited unless there is a listener, even while nothing is awaited.
  stream.on("readable", () => undefined);

  async function upTo(size: number): Promise<Buffer | undefined> {
    while (rest.length === 0) {
      const piece = stream.read() as Buffer | null;
      if (piece !== null) rest = piece;
      else if (stream.readableEnded || stream.destroyed) return undefined;
      else await anyOf(stream, ["readable", "end", "close", "error"]);
    }
    const taken = rest.subarray(0, size);
    rest = rest.subarray(taken.length);
    return taken;
  }

  return {
    /** Between one and `size` available bytes; `undefined` at the end. */
    upTo,
    /** `size` bytes, or `undefined` at the end of the stream. Throws a `FrameFault` if it ends in between. */
    async exactly(size: number): Promise<Buffer | undefined> {
      // One buffer, not a list: a list of one-byte chunks would take a hundred times the memory. At most twice what has arrived.
      let whole = Buffer.allocUnsafe(Math.min(size, firstBytes));
      for (let at = 0; at < size;) {
        if (at === whole.length) whole = Buffer.concat([whole], Math.min(size, 2 * at));
        const piece = await upTo(whole.length - at);
        if (piece === undefined) {
          if (at === 0) return undefined;
          throw new FrameFault("The stream ended inside a frame.");
        }
        at += piece.copy(whole, at);
      }
      return whole;
    },
  };
}

/** Resolves with the first of these events. */
export function anyOf(stream: Readable | Writable, events: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const event of events) stream.off(event, done);
      resolve();
    };
    for (const event of events) stream.on(event, done);
  });
}

/** The types of frames to which a program awaits an answer. */
export const callTypes: ReadonlySet<string> = new Set(["create_blob", "call_skill", "fetch"]);

/**
 * Limits the rate of a run's frames: waits after a frame that exceeds it. Nothing is read meanwhile, so the run blocks on its pipe.
 * Aborting the signal ends the wait.
 */
export function createFrameRateLimiter(clock: Clock): (frame: Frame, over: AbortSignal) => Promise<void> {
  const { burstBytes, bytesPerSecond, burstCalls, callsPerSecond } = frameLimits;
  // Token buckets.
  const bytes = { left: burstBytes, max: burstBytes, perSecond: bytesPerSecond };
  const calls = { left: burstCalls as number, max: burstCalls, perSecond: callsPerSecond };
  let last = clock.now();

  return async ({ header, headerBytes }, over) => {
    const now = clock.now();
    for (const budget of [bytes, calls]) {
      budget.left = Math.min(budget.max, budget.left + ((now - last) / 1000) * budget.perSecond);
    }
    last = now;
    bytes.left -= headerBytes;
    if (callTypes.has(header.type)) calls.left -= 1;
    const ms = Math.max(...[bytes, calls].map(({ left, perSecond }) => (-left / perSecond) * 1000));
    if (ms > 0) await waitFor(ms, clock, over);
  };
}

function waitFor(ms: number, clock: Clock, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      over.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    if (over.aborted) done();
    else over.addEventListener("abort", done);
  });
}
