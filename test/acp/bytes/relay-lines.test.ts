import { PassThrough, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openLineBlocks, relayLines } from "../../../src/acp/bytes/relay-lines.ts";
import { cut } from "../cut.ts";

const same = (block: Buffer): Buffer[] => [block];

test("bytes pass in order, also those after the last line break", async () => {
  const source = new PassThrough();
  const sink = new PassThrough();
  const relay = relayLines(source, sink, same);
  source.end("a\nb\nc");
  await relay.ended;
  sink.end();
  expect(await text(sink)).toBe("a\nb\nc");
});

test("nothing overtakes a block that is waited for", async () => {
  const source = new PassThrough();
  const sink = new PassThrough();
  let release: (value: Buffer[]) => void = () => undefined;
  const asked: string[] = [];
  const relay = relayLines(source, sink, (block) => {
    asked.push(block.toString());
    if (!block.toString().startsWith("slow")) return [block];
    return new Promise<Buffer[]>((resolve) => {
      release = resolve;
    });
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

test("the source is read no faster than the sink takes", async () => {
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
  const relay = relayLines(source, sink, same);
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

test("when the sink is gone the source is read to its end", async () => {
  const source = new PassThrough();
  const sink = new PassThrough();
  const relay = relayLines(source, sink, same);
  sink.destroy(new Error("EPIPE"));
  for (let line = 0; line < 100; line++) source.write(`${"x".repeat(10_000)}\n`);
  source.end();
  await relay.ended;
  expect(source.readableLength).toBe(0);
});

test("the bytes after the last line break pass also where the source fails while a block is waited for", async () => {
  const source = new PassThrough();
  const sink = new PassThrough();
  let release: (value: Buffer[]) => void = () => undefined;
  const relay = relayLines(source, sink, (block) => {
    if (!block.toString().startsWith("slow")) return [block];
    return new Promise<Buffer[]>((resolve) => {
      release = resolve;
    });
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

test("the end of the source is noticed while a block is waited for", async () => {
  const source = new PassThrough();
  const relay = relayLines(source, new PassThrough(), () => new Promise<Buffer[]>(() => undefined));
  source.end("slow\nmore\n");
  await relay.sourceEnded;
  expect(relay.isActive()).toBe(true);
});

test("behind a block that is waited for, 1 MiB is read and no more", async () => {
  const source = new PassThrough();
  relayLines(source, new PassThrough(), () => new Promise<Buffer[]>(() => undefined));
  for (let line = 0; line < 40; line++) source.write(`${"x".repeat(64 * 1024 - 1)}\n`);
  await new Promise(setImmediate);
  expect(source.isPaused()).toBe(true);
  expect(source.readableLength + source.writableLength).toBeGreaterThan(20 * 64 * 1024);
});

test("an error of the source ends the relay and is not thrown", async () => {
  const source = new PassThrough();
  const relay = relayLines(source, new PassThrough(), same);
  source.destroy(new Error("gone"));
  await relay.ended;
  expect(source.destroyed).toBe(true);
});

test("a stopped relay leaves the source alone", async () => {
  const source = new PassThrough();
  const sink = new PassThrough();
  relayLines(source, sink, same).stop();
  source.write("a\n");
  await new Promise(setImmediate);
  expect(sink.readableLength).toBe(0);
  expect(source.readableLength).toBe(2);
});

test("blocks hold whole lines, and nothing is lost or moved, wherever the chunks begin", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("a", "é", "\n", "\r\n", "🦀") }),
      fc.infiniteStream(fc.nat(9)),
      (text, sizes) => {
        const lines = openLineBlocks();
        const blocks = cut(Buffer.from(text), sizes).flatMap((chunk) => [...lines.push(chunk)]);
        expect(blocks.every((block) => block.length > 0 && block.at(-1) === 10)).toBe(true);
        const rest = lines.rest() ?? Buffer.alloc(0);
        expect(rest.includes(10)).toBe(false);
        expect(Buffer.concat([...blocks, rest]).toString()).toBe(text);
      },
    ),
  );
});

test("a chunk that starts and ends between lines is one block, and is not copied", () => {
  const chunk = Buffer.from("a\nb\n");
  expect(openLineBlocks().push(chunk)[0]?.buffer).toBe(chunk.buffer);
});

test("the bytes after the last line break are returned once", () => {
  const lines = openLineBlocks();
  lines.push(Buffer.from("a\nb"));
  expect(lines.rest()?.toString()).toBe("b");
  expect(lines.rest()).toBeUndefined();
});
