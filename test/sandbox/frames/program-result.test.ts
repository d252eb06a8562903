import fc from "fast-check";
import { expect, test } from "vitest";
import { Readable } from "node:stream";
import { FrameFault, readFrames } from "../../../src/sandbox/frames/frames.ts";
import { readResult } from "../../../src/sandbox/frames/program-result.ts";
import type { ProgramResult } from "../../../src/sandbox/frames/program-result.ts";

/** Reads `text` through a stream of frames. */
async function readText(text: string, mostBytes: number): Promise<ProgramResult> {
  const start = Buffer.alloc(4);
  start.writeUInt32BE(Buffer.byteLength(text));
  const frame = await readFrames(Readable.from([start, Buffer.from(text)], { objectMode: false })).next();
  if (frame === undefined) throw new Error("There is no frame.");
  return readResult(frame, mostBytes);
}

const read = (header: object, mostBytes = 10_000) => readText(JSON.stringify(header), mostBytes);
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

test("returns a result unchanged", () => {
  return fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 6 }), async (value) => {
      const text = JSON.stringify({ type: "returned", value });
      expect(JSON.stringify(await readText(text, 1_000_000))).toBe(text);
    }),
  );
});

test("returns the summary and output blobs and drops unknown fields", async () => {
  expect(await read({ type: "returned", value: 1, summary: "s", output_blobs: ["blob:a"], more: 1 })).toEqual({
    type: "returned",
    value: 1,
    summary: "s",
    outputBlobs: ["blob:a"],
  });
});

test("returns an error with its details", async () => {
  const error = { type: "ValueError", message: "no", details: { line: 3 } };
  expect(await read({ type: "raised", error: { ...error, more: 1 } })).toEqual({ type: "raised", error });
});

test("truncates long error types and messages", async () => {
  const end = await read({ type: "raised", error: { type: "T".repeat(1_000), message: "m".repeat(100_000) } });
  expect(end).toMatchObject({ error: { type: `${"T".repeat(200)}…`, message: `${"m".repeat(65_536)}…` } });
});

test("turns numbers outside the range of JSON numbers into null", async () => {
  expect(await readText('{"type":"returned","value":[1e999,{"a":-1e999}]}', 100)).toEqual({
    type: "returned",
    value: [null, { a: null }],
  });
});

test("accepts a result nested 200 levels deep and reports a deeper one as an error", async () => {
  expect(await readText(`{"type":"returned","value":${nested(200)}}`, 1_000)).toMatchObject({ type: "returned" });
  const tooDeep = {
    type: "raised",
    error: { type: "OutputLimitError", message: "The result is nested deeper than 200 levels." },
  };
  for (const depth of [201, 100_000]) {
    expect(await readText(`{"type":"returned","value":${nested(depth)}}`, 1_000)).toEqual(tooDeep);
  }
});

test("accepts a result of exactly the maximum size and rejects a larger one", async () => {
  expect(await read({ type: "returned", value: "x".repeat(98) }, 100)).toMatchObject({ type: "returned" });
  expect(await read({ type: "returned", value: "x".repeat(99) }, 100)).toEqual({ type: "too-large" });
});

test("measures a result after its numbers have been rewritten", async () => {
  const numbers = `[${Array.from({ length: 30 }, () => "1e20").join()}]`;
  expect(await readText(`{"type":"returned","value":${numbers}}`, 300)).toEqual({ type: "too-large" });
});

test("keeps __proto__ as an ordinary key", async () => {
  const end = await readText('{"type":"returned","value":{"__proto__":{"polluted":1e999}}}', 100);
  expect(JSON.stringify(end)).toBe('{"type":"returned","value":{"__proto__":{"polluted":null}}}');
  expect({}).not.toHaveProperty("polluted");
});

test.each([
  { type: "returned" },
  { type: "returned", value: 1, summary: 1 },
  { type: "returned", value: 1, output_blobs: "blob:a" },
  { type: "returned", value: 1, output_blobs: [1] },
  { type: "raised" },
  { type: "raised", error: "no" },
  { type: "raised", error: { type: "E" } },
  { type: "raised", error: { type: 1, message: "no" } },
])("throws a FrameFault for a malformed result: %j", (header) => {
  return expect(read(header)).rejects.toThrow(FrameFault);
});
