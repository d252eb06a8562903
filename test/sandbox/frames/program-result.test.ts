import fc from "fast-check";
import { expect, test } from "vitest";
import { Readable } from "node:stream";
import { FrameFault, readFrames } from "../../../src/sandbox/frames/frames.ts";
import { readResult } from "../../../src/sandbox/frames/program-result.ts";
import type { ProgramResult } from "../../../src/sandbox/frames/program-result.ts";

/** As it comes out of the stream. */
async function readText(text: string, mostBytes: number): Promise<ProgramResult> {
  const start = Buffer.alloc(4);
  start.writeUInt32BE(Buffer.byteLength(text));
  const frame = await readFrames(Readable.from([start, Buffer.from(text)], { objectMode: false })).next();
  if (frame === undefined) throw new Error("There is no frame.");
  return readResult(frame, mostBytes);
}

const read = (header: object, mostBytes = 10_000) => readText(JSON.stringify(header), mostBytes);
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

test("A result is passed on as it is", () => {
  return fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 6 }), async (value) => {
      const text = JSON.stringify({ type: "returned", value });
      expect(JSON.stringify(await readText(text, 1_000_000))).toBe(text);
    }),
  );
});

test("A summary and output blobs are passed on", async () => {
  expect(await read({ type: "returned", value: 1, summary: "s", output_blobs: ["blob:a"], more: 1 })).toEqual({
    type: "returned",
    value: 1,
    summary: "s",
    outputBlobs: ["blob:a"],
  });
});

test("An error is passed on with its details", async () => {
  const error = { type: "ValueError", message: "no", details: { line: 3 } };
  expect(await read({ type: "raised", error: { ...error, more: 1 } })).toEqual({ type: "raised", error });
});

test("Words without end are cut", async () => {
  const end = await read({ type: "raised", error: { type: "T".repeat(1_000), message: "m".repeat(100_000) } });
  expect(end).toMatchObject({ error: { type: `${"T".repeat(200)}…`, message: `${"m".repeat(65_536)}…` } });
});

test("Numbers that are none become null", async () => {
  expect(await readText('{"type":"returned","value":[1e999,{"a":-1e999}]}', 100)).toEqual({
    type: "returned",
    value: [null, { a: null }],
  });
});

test("A result may be 200 deep and no deeper", async () => {
  expect(await readText(`{"type":"returned","value":${nested(200)}}`, 1_000)).toMatchObject({ type: "returned" });
  const tooDeep = {
    type: "raised",
    error: { type: "OutputLimitError", message: "The result is nested deeper than 200 levels." },
  };
  for (const depth of [201, 100_000]) {
    expect(await readText(`{"type":"returned","value":${nested(depth)}}`, 1_000)).toEqual(tooDeep);
  }
});

test("A result may be as large as allowed, and no larger", async () => {
  expect(await read({ type: "returned", value: "x".repeat(98) }, 100)).toMatchObject({ type: "returned" });
  expect(await read({ type: "returned", value: "x".repeat(99) }, 100)).toEqual({ type: "too-large" });
});

test("A result that becomes larger as it is rewritten is measured as rewritten", async () => {
  const numbers = `[${Array.from({ length: 30 }, () => "1e20").join()}]`;
  expect(await readText(`{"type":"returned","value":${numbers}}`, 300)).toEqual({ type: "too-large" });
});

test("A key that is a name of every object stays a key", async () => {
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
])("What is no result is a fault: %j", (header) => {
  return expect(read(header)).rejects.toThrow(FrameFault);
});
