import fc from "fast-check";
import { expect, test } from "vitest";
import { FrameFault } from "../../src/sandbox/frames.ts";
import type { Frame } from "../../src/sandbox/frames.ts";
import { readResult } from "../../src/sandbox/program-result.ts";

function frameOf(text: string): Frame {
  return {
    header: JSON.parse(text) as Frame["header"],
    headerBytes: Buffer.byteLength(text),
    size: 0,
    payload: (async function* () {})(),
  };
}

const read = (header: object, mostBytes = 10_000) => readResult(frameOf(JSON.stringify(header)), mostBytes);
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

test("A result is passed on as it is", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify({ type: "returned", value });
      expect(JSON.stringify(readResult(frameOf(text), 1_000_000))).toBe(text);
    }),
  );
});

test("A summary and output blobs are passed on", () => {
  expect(read({ type: "returned", value: 1, summary: "s", output_blobs: ["blob:a"], more: 1 })).toEqual({
    type: "returned",
    value: 1,
    summary: "s",
    outputBlobs: ["blob:a"],
  });
});

test("An error is passed on with its details", () => {
  const error = { type: "ValueError", message: "no", details: { line: 3 } };
  expect(read({ type: "raised", error: { ...error, more: 1 } })).toEqual({ type: "raised", error });
});

test("Words without end are cut", () => {
  const end = read({ type: "raised", error: { type: "T".repeat(1_000), message: "m".repeat(100_000) } });
  expect(end).toMatchObject({ error: { type: "T".repeat(200), message: "m".repeat(65_536) } });
});

test("Numbers that are none become null", () => {
  expect(readResult(frameOf('{"type":"returned","value":[1e999,{"a":-1e999}]}'), 100)).toEqual({
    type: "returned",
    value: [null, { a: null }],
  });
});

test("A result may be 200 deep and no deeper", () => {
  expect(readResult(frameOf(`{"type":"returned","value":${nested(200)}}`), 1_000)).toMatchObject({ type: "returned" });
  expect(() => readResult(frameOf(`{"type":"returned","value":${nested(201)}}`), 1_000)).toThrow(FrameFault);
  expect(() => readResult(frameOf(`{"type":"returned","value":${nested(100_000)}}`), 1_000_000)).toThrow(FrameFault);
});

test("A result may be as large as allowed, and no larger", () => {
  expect(read({ type: "returned", value: "x".repeat(98) }, 100)).toMatchObject({ type: "returned" });
  expect(read({ type: "returned", value: "x".repeat(99) }, 100)).toEqual({ type: "too-large" });
});

test("A result that becomes larger as it is rewritten is measured as rewritten", () => {
  const numbers = `[${Array.from({ length: 30 }, () => "1e20").join()}]`;
  expect(readResult(frameOf(`{"type":"returned","value":${numbers}}`), 300)).toEqual({ type: "too-large" });
});

test("A key that is a name of every object stays a key", () => {
  const end = readResult(frameOf('{"type":"returned","value":{"__proto__":{"polluted":1e999}}}'), 100);
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
  expect(() => read(header)).toThrow(FrameFault);
});
