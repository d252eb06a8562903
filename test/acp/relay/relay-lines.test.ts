import { PassThrough, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { relayLines } from "../../../src/acp/relay/relay-lines.ts";
import { cut } from "../cut.ts";
import { LineBlocks } from "../../../src/base/json/line-blocks.ts";

const same = (block: Buffer): Buffer[] => [block];

test("forwards bytes in order, including those after the last line break", async () => {
  const source = new PassThrough();
  const sink = new PassThrough();
  const relay = relayLines(source, sink, { pass: same });
  source.end("a\nb\nc");
  await relay.ended;
  sink.end();
  expect(await text(sink)).toBe("a\nb\nc");
});

test("holds back later blocks while one is pending", async () => {
  const source = new PassThrough();
  const sink = new PassThrough();
  let release: (value: Buffer[]) => void = () => undefined;
  const asked: string[] = [];
  const relay = relayLines(source, sink, {
    pass: (block: Buffer) => {
      asked.push(block.toString());
      if (!block.toString().startsWith("slow")) return [block];
      return new Promise<Buffer[]>((resolve) => {
        release = resolve;
      });
    },
  });
  source.write("slow\n");
  source.write("b\n");
  await new Promise(setImmediate);
  expect(asked).toEqual(["slow\n"]);
  sink.emit("drain");
  await new Promise(setImmediate);
  expect(asked).toEqual(["slow\n"]);
  release([Buffer.from("late\n")]);
  source.end("c");
  await relay.ended;
  sink.end();
  expect(await text(sink)).toBe("late\nb\nc");
});

test("reads the source no faster than the sink accepts data", async () => {
  const source = new PassThrough();
  let take: () => void = () => undefined;
  const taken: string[] = [];
  const sink = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, done) {
      taken.push(chunk.toString());
      take = done;
    },
  });
  const relay = relayLines(source, sink, { pass: same });
  source.write("a\n");
  source.write("b\n");
  await new Promise(setImmediate);
  expect(taken).toEqual(["a\n"]);
  expect(source.readableLength).toBe(2);
  expect(relay.isActive()).toBe(true);
  take();
  await new Promise(setImmediate);
  expect(taken).toEqual(["a\n", "b\n"]);
});

test("drains the source after the sink failed", async () => {
  const source = new PassThrough();
  const sink = new PassThrough();
  const relay = relayLines(source, sink, { pass: same });
  sink.destroy(new Error("EPIPE"));
  for (let line = 0; line < 100; line++) source.write(`${"x".repeat(10_000)}\n`);
  source.end();
  await relay.ended;
  expect(source.readableLength).toBe(0);
});

test("forwards the bytes after the last line break if the source fails while a block is pending", async () => {
  const source = new PassThrough();
  const sink = new PassThrough();
  let release: (value: Buffer[]) => void = () => undefined;
  const relay = relayLines(source, sink, {
    pass: (block: Buffer) => {
      if (!block.toString().startsWith("slow")) return [block];
      return new Promise<Buffer[]>((resolve) => {
        release = resolve;
      });
    },
  });
  source.write("slow\ntail");
  await new Promise(setImmediate);
  source.destroy(new Error("gone"));
  await new Promise((resolve) => source.once("close", resolve));
  release([Buffer.from("late\n")]);
  await relay.ended;
  sink.end();
  expect(await text(sink)).toBe("late\ntail");
});

test("detects the end of the source while a block is pending", async () => {
  const source = new PassThrough();
  const relay = relayLines(source, new PassThrough(), { pass: () => new Promise<Buffer[]>(() => undefined) });
  source.end("slow\nmore\n");
  await relay.sourceEnded;
  expect(relay.isActive()).toBe(true);
});

test("buffers at most 1 MiB behind a pending block", async () => {
  const source = new PassThrough();
  relayLines(source, new PassThrough(), { pass: () => new Promise<Buffer[]>(() => undefined) });
  for (let line = 0; line < 40; line++) source.write(`${"x".repeat(64 * 1024 - 1)}\n`);
  await new Promise(setImmediate);
  expect(source.isPaused()).toBe(true);
  expect(source.readableLength + source.writableLength).toBeGreaterThan(20 * 64 * 1024);
});

test("ends without throwing when the source fails", async () => {
  const source = new PassThrough();
  const relay = relayLines(source, new PassThrough(), { pass: same });
  source.destroy(new Error("gone"));
  await relay.ended;
  expect(source.destroyed).toBe(true);
});

test("stops reading the source after stop()", async () => {
  const source = new PassThrough();
  const sink = new PassThrough();
  relayLines(source, sink, { pass: same }).stop();
  source.write("a\n");
  await new Promise(setImmediate);
  expect(sink.readableLength).toBe(0);
  expect(source.readableLength).toBe(2);
});

test("splits any chunking into blocks of whole lines without losing or reordering bytes", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("a", "é", "\n", "\r\n", "🦀") }),
      fc.infiniteStream(fc.nat(9)),
      (text, sizes) => {
        const lines = new LineBlocks();
        const blocks = cut(Buffer.from(text), sizes).flatMap((chunk) => [...lines.push(chunk)]);
        expect(blocks.every((block) => block.length > 0 && block.at(-1) === 10)).toBe(true);
        const rest = lines.rest() ?? Buffer.alloc(0);
        expect(rest.includes(10)).toBe(false);
        expect(Buffer.concat([...blocks, rest]).toString()).toBe(text);
      },
    ),
  );
});

test("returns a chunk of whole lines as one block without copying it", () => {
  const chunk = Buffer.from("a\nb\n");
  expect(new LineBlocks().push(chunk)[0]?.buffer).toBe(chunk.buffer);
});

test("returns the bytes after the last line break only once", () => {
  const lines = new LineBlocks();
  lines.push(Buffer.from("a\nb"));
  expect(lines.rest()?.toString()).toBe("b");
  expect(lines.rest()).toBeUndefined();
});
