import { spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Frame,
  FrameFault,
  createFrameRateLimiter,
  encodeFrame,
  frameLimits,
  readFrames,
  sendFrame,
} from "../../../src/runtime/sandbox/frames.ts";
import { manualClock } from "../../manual-clock.ts";
import { retainedHeap } from "../../retained-heap.ts";

/** A stream of these bytes in chunks of these lengths, repeated cyclically. */
function inPieces(bytes: Uint8Array, lengths: readonly number[]): Readable {
  function* pieces(): Generator<Buffer> {
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const length = lengths[turn % lengths.length] ?? 1;
      yield Buffer.from(bytes.subarray(at, at + length));
      at += length;
    }
  }
  return Readable.from(pieces(), { objectMode: false });
}

function withPayload(header: { type: string; [key: string]: unknown }, payload: Uint8Array): Buffer {
  return Buffer.concat([encodeFrame({ ...header, bytes: payload.length }), payload]);
}

async function collect(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function readAll(stream: Readable): Promise<Frame[]> {
  const frames = readFrames(stream);
  const found: Frame[] = [];
  for (let frame = await frames.next(); frame !== undefined; frame = await frames.next()) found.push(frame);
  return found;
}

const lengths = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 8 });

test("decodes frames as they were encoded, however the bytes are chunked", async () => {
  const frame = fc.record({ text: fc.string({ unit: "binary" }), payload: fc.uint8Array({ maxLength: 300 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(frame, { maxLength: 6 }), lengths, async (sent, cut) => {
      const bytes = Buffer.concat(sent.map(({ text, payload }) => withPayload({ type: "x", text }, payload)));
      const frames = readFrames(inPieces(bytes, cut));
      for (const { text, payload } of sent) {
        const found = await frames.next();
        expect(found?.header).toEqual({ type: "x", text, bytes: payload.length });
        expect(found === undefined ? undefined : await collect(found.payload)).toEqual(Buffer.from(payload));
      }
      expect(await frames.next()).toBeUndefined();
    }),
  );
});

test("does not retain more memory for a header that arrives byte by byte", async () => {
  const bytes = encodeFrame({ type: "x", text: "a".repeat(300_000) });
  const before = retainedHeap();
  let grown = 0;
  let at = 0;
  const crumbs = new Readable({
    highWaterMark: 1,
    read() {
      if (at % 50_000 === 0) grown = Math.max(grown, retainedHeap() - before);
      // Like chunks from a pipe, each has its own memory.
      const crumb = Buffer.from(new Uint8Array([bytes[at++] ?? 0]).buffer);
      void setImmediate().then(() => this.push(crumb));
    },
  });
  expect((await readFrames(crumbs).next())?.headerBytes).toBe(bytes.length - 4);
  crumbs.destroy();
  expect(grown).toBeLessThan(10 * 1024 * 1024);
});

test("skips a payload that is not read", async () => {
  const bytes = Buffer.concat([withPayload({ type: "a" }, Buffer.alloc(200_000, 1)), encodeFrame({ type: "b" })]);
  const found = await readAll(inPieces(bytes, [65_536]));
  expect(found.map(({ header }) => header.type)).toEqual(["a", "b"]);
});

test("throws nothing but a FrameFault for random bytes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), lengths, async (bytes, cut) => {
      try {
        await readAll(inPieces(bytes, cut));
      } catch (error) {
        expect(error).toBeInstanceOf(FrameFault);
      }
    }),
  );
});

test("throws nothing but a FrameFault for a frame with a corrupted byte", async () => {
  const whole = withPayload({ type: "returned", value: [1, "two", null] }, Buffer.from("payload"));
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 }), async (at, byte) => {
      const damaged = Buffer.from(whole);
      damaged[at] = byte;
      try {
        await readAll(inPieces(damaged, [7]));
      } catch (error) {
        expect(error).toBeInstanceOf(FrameFault);
      }
    }),
  );
});

test.each([
  ["a header that is too long", Buffer.from([0x7f, 0xff, 0xff, 0xff])],
  ["a truncated header", encodeFrame({ type: "x" }).subarray(0, 9)],
  ["a truncated length", Buffer.from([0, 0])],
  ["a truncated payload", withPayload({ type: "x" }, Buffer.from("1234")).subarray(0, -1)],
  ["a header that is not an object", Buffer.from("\0\0\0\x02[]")],
  ["a header that is null", Buffer.from("\0\0\0\x04null")],
  ["a header without a type", Buffer.from("\0\0\0\x02{}")],
  ["a type that is not a string", Buffer.from('\0\0\0\x0a{"type":1}')],
  ["a negative payload length", encodeFrame({ type: "x", bytes: -1 })],
  ["a fractional payload length", encodeFrame({ type: "x", bytes: 0.5 })],
  ["a payload length that is a string", encodeFrame({ type: "x", bytes: "1" })],
  ["NaN", Buffer.from('\0\0\0\x18{"type":"x","value":NaN}')],
])("rejects %s", async (_what, bytes) => {
  await expect(readAll(inPieces(bytes, [3]))).rejects.toBeInstanceOf(FrameFault);
});

test("does not read an endless stream ahead of its consumer", async () => {
  let given = 0;
  const stream = new Readable({
    read() {
      given += 1;
      this.push(given === 1 ? withPayload({ type: "a" }, Buffer.alloc(16_384)) : Buffer.alloc(16_384));
    },
  });
  await readFrames(stream).next();
  for (let turn = 0; turn < 100; turn++) await setImmediate();
  expect(given).toBeLessThan(10);
});

test("throws a RangeError instead of encoding a header that exceeds the limit", () => {
  expect(() => encodeFrame({ type: "x", text: "x".repeat(8 * 1024 * 1024) })).toThrow(RangeError);
});

test("ignores a frame sent to a destroyed stream", () => {
  const stream = new PassThrough();
  stream.destroy();
  expect(() => sendFrame(stream, { type: "x" })).not.toThrow();
});

test("reads everything a child wrote, even after it has exited", async () => {
  const program = `const { readSync, writeSync } = require("fs");
    writeSync(3, Buffer.from("${encodeFrame({ type: "a", bytes: 200 }).toString("base64")}", "base64"));
    readSync(0, Buffer.alloc(1));
    writeSync(3, Buffer.concat([Buffer.alloc(200), Buffer.from("${encodeFrame({ type: "b" }).toString("base64")}", "base64")]));`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["pipe", "ignore", "inherit", "pipe"] });
  const frames = readFrames(child.stdio[3] as Readable);
  const first = await frames.next();
  child.stdin?.end("go");
  await once(child, "exit");
  await setImmediate();
  expect(first && (await collect(first.payload))).toHaveLength(200);
  expect((await frames.next())?.header).toEqual({ type: "b" });
  expect(await frames.next()).toBeUndefined();
});

const megabyte = 1024 * 1024;

function frameOf(type: string, headerBytes: number): Frame {
  return { header: { type }, headerBytes, size: 0, payload: (async function* () {})() };
}

/** Sends the same frame repeatedly; `settled` returns how many have passed so far. */
function flood(frame: Frame, over = new AbortController().signal) {
  const clock = manualClock();
  const pace = createFrameRateLimiter(clock);
  let passed = 0;
  void (async () => {
    while (!over.aborted) {
      await pace(frame, over);
      passed += 1;
      await setImmediate();
    }
  })();
  return {
    clock,
    settled: async (): Promise<number> => {
      for (let last = -1; last !== passed;) {
        last = passed;
        for (let turn = 0; turn < 5; turn++) await setImmediate();
      }
      return passed;
    },
  };
}

test("lets a burst of headers pass immediately, then limits the bytes per second", async () => {
  const over = new AbortController();
  const { clock, settled } = flood(frameOf("call_skill", 4 * megabyte), over.signal);
  const burst = frameLimits.burstBytes / (4 * megabyte);
  expect(await settled()).toBe(burst);
  for (let second = 1; second <= 5; second++) {
    clock.pass(1000);
    expect(await settled()).toBe(burst + (second * frameLimits.bytesPerSecond) / (4 * megabyte));
  }
  over.abort();
  await settled();
});

test("lets a burst of calls pass immediately, then limits the calls per second", async () => {
  const over = new AbortController();
  const { clock, settled } = flood(frameOf("create_blob", 100), over.signal);
  expect(await settled()).toBe(frameLimits.burstCalls);
  for (let turn = 0; turn < 200; turn++) {
    clock.pass(5);
    await settled();
  }
  expect(Math.abs((await settled()) - frameLimits.burstCalls - frameLimits.callsPerSecond)).toBeLessThanOrEqual(1);
  over.abort();
  await settled();
});

test("does not delay printed output and other small frames", async () => {
  const over = new AbortController();
  const { settled, clock } = flood(frameOf("print", 40), over.signal);
  for (let turn = 0; turn < 2_000; turn++) await setImmediate();
  expect(clock.pending).toBe(0);
  over.abort();
  expect(await settled()).toBeGreaterThan(1_000);
});

test("stops waiting when the run is over", async () => {
  const over = new AbortController();
  const { settled, clock } = flood(frameOf("call_skill", 100 * megabyte), over.signal);
  expect(await settled()).toBe(0);
  over.abort();
  expect(await settled()).toBe(1);
  expect(clock.pending).toBe(0);
});
