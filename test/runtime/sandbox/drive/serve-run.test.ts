import { Duplex, PassThrough, Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { systemClock } from "../../../../src/base/clock.ts";
import { silentLog } from "../../../../src/base/log.ts";
import { SkillsError } from "../../../../src/base/errors.ts";
import { type ProgramResult, readResult, serveProgram } from "../../../../src/runtime/sandbox/drive/serve-run.ts";
import { encodeFrame, FrameFault, frameLimits, readFrames } from "../../../../src/runtime/sandbox/frames.ts";
import type { RunHost } from "../../../../src/runtime/sandbox.ts";
import { codeRun } from "../../../contract/sandbox/runs.ts";
import { manualClock } from "../../../manual-clock.ts";

const host: RunHost = {
  print: () => undefined,
  hide: (text) => text,
  async createBlob(kind, content) {
    let size = 0;
    for await (const piece of content) size += piece.length;
    return `blob:${kind}-${size}`;
  },
  callSkill: (name, args) => Promise.resolve({ name, args }),
  output: () => Promise.reject(new Error("not here")),
};

/** Imitates a program that has sent all these frames; returns the result and the replies. */
async function play(sent: readonly Buffer[], more: { host?: Partial<RunHost>; over?: AbortSignal } = {}) {
  const toHost = new PassThrough();
  const toProgram = new PassThrough();
  for (const piece of sent) toHost.write(piece);
  toHost.end();
  let tooMuch = 0;
  const served = serveProgram(
    Duplex.from({ readable: toHost, writable: toProgram }),
    codeRun("", { brokered: ["a.b"], limits: { resultBytes: 100 } }),
    { ...host, ...more.host },
    more.over ?? new AbortController().signal,
    { log: silentLog, clock: systemClock, tooMuch: () => (tooMuch += 1) },
  );
  const result = await served.catch((error: unknown) => error);
  toProgram.end();
  const frames = readFrames(toProgram);
  const answers: unknown[] = [];
  for (let frame = await frames.next(); frame !== undefined; frame = await frames.next()) answers.push(frame.header);
  return { result, answers, tooMuch };
}

const call = (id: unknown, name: unknown = "a.b", args: unknown = {}) =>
  encodeFrame({ type: "call_skill", id, name, args });
const returned = encodeFrame({ type: "returned", value: 1 });

test("answers calls in order, then takes the result", async () => {
  const blob = Buffer.concat([encodeFrame({ type: "create_blob", id: 1, kind: "a/b", bytes: 4 }), Buffer.from("four")]);
  const { result, answers } = await play([blob, call(2, "a.b", { n: 1 }), returned]);
  expect(answers).toEqual([
    { type: "reply", id: 1, value: "blob:a/b-4" },
    { type: "reply", id: 2, value: { name: "a.b", args: { n: 1 } } },
  ]);
  expect(result).toEqual({ type: "returned", value: 1 });
});

test("rejects a call of a skill that the run may not call", async () => {
  const { answers } = await play([call(1, "c.d")], { host: { callSkill: () => expect.fail("It was called.") } });
  expect(answers).toEqual([
    { type: "reply", id: 1, error: { type: "PermissionError", message: "This run may not call that skill." } },
  ]);
});

test.each<[string, unknown, object]>([
  [
    "a failed run of the skill",
    { type: "ValueError", message: "no", runId: "run_2" },
    { type: "ValueError", message: "no", run_id: "run_2" },
  ],
  ["a SkillsError", new SkillsError("UNREADABLE", "gone"), { type: "UNREADABLE", message: "gone" }],
  ["any other error", new RangeError("too far"), { type: "Error", message: "too far" }],
  ["a value that is not an error", 7, { type: "Error", message: "The call failed." }],
])("passes what the host throws to the program as an exception: %s", async (_what, thrown, error) => {
  // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
  const { answers } = await play([call(1)], { host: { callSkill: () => Promise.reject(thrown) } });
  expect(answers).toEqual([{ type: "reply", id: 1, error }]);
});

test("passes an answer that is too large to the program as an exception", async () => {
  const callSkill = () => Promise.resolve("x".repeat(8 * 1024 * 1024));
  const { answers } = await play([call(1)], { host: { callSkill } });
  expect(answers).toEqual([
    { type: "reply", id: 1, error: { type: "OutputLimitError", message: "The answer is too large." } },
  ]);
});

test("reports a result that is too large immediately", async () => {
  const { result, tooMuch } = await play([encodeFrame({ type: "returned", value: "x".repeat(200) })]);
  expect({ result, tooMuch }).toEqual({ result: undefined, tooMuch: 1 });
});

test("abandons a pending call when the run is over", async () => {
  const over = new AbortController();
  const callSkill = () => {
    over.abort();
    return new Promise<never>(() => undefined);
  };
  const { result, answers } = await play([call(1), returned], { host: { callSkill }, over: over.signal });
  expect({ result, answers }).toEqual({ result: undefined, answers: [] });
});

test.each<[string, Buffer[]]>([
  ["sends an unknown frame", [encodeFrame({ type: "reply", id: 1 })]],
  ["sends a frame after its result", [returned, returned]],
  ["sends a call id that is a string", [call("1")]],
  ["sends a negative call id", [call(-1)]],
  ["calls a skill whose name is not a string", [call(1, 7)]],
  ["sends arguments that are nested too deeply", [Buffer.from(deepCall())]],
  ["creates a blob without a kind", [encodeFrame({ type: "create_blob", id: 1, bytes: 0 })]],
  [
    "creates a blob whose kind is too long",
    [encodeFrame({ type: "create_blob", id: 1, kind: "k".repeat(128), bytes: 0 })],
  ],
  [
    "ends in the middle of a blob",
    [encodeFrame({ type: "create_blob", id: 1, kind: "a/b", bytes: 4 }), Buffer.from("thr")],
  ],
])("returns a FrameFault when a program %s", async (_what, sent) => {
  expect((await play(sent)).result).toBeInstanceOf(FrameFault);
});

function deepCall(): Buffer {
  const text = `{"type":"call_skill","id":1,"name":"a.b","args":${"[".repeat(5000)}${"]".repeat(5000)}}`;
  const start = Buffer.alloc(4);
  start.writeUInt32BE(text.length);
  return Buffer.concat([start, Buffer.from(text)]);
}

test("limits how fast and how far ahead it reads a program that keeps sending large calls", async () => {
  const frame = encodeFrame({ type: "call_skill", id: 1, name: "c.d", args: "x".repeat(4_000_000) });
  let given = 0;
  const flood = new Readable({
    highWaterMark: 65_536,
    read() {
      for (let isWanted = true; isWanted;) {
        const piece = frame.subarray(given % frame.length, (given % frame.length) + 65_536);
        given += piece.length;
        isWanted = this.push(piece);
      }
    },
  });
  const clock = manualClock();
  const over = new AbortController();
  const channel = Duplex.from({ readable: flood, writable: new PassThrough().resume() });
  channel.on("error", () => undefined);
  const run = codeRun("", { brokered: ["a.b"] });
  const served = serveProgram(channel, run, host, over.signal, { log: silentLog, clock, tooMuch: () => undefined });
  const settled = async (): Promise<number> => {
    for (let last = -1; last !== given;) {
      last = given;
      for (let turn = 0; turn < 20; turn++) await setImmediate();
    }
    return given;
  };
  const ahead = frame.length + 1024 * 1024;
  const first = await settled();
  expect(first).toBeGreaterThanOrEqual(frameLimits.burstBytes);
  expect(first).toBeLessThan(frameLimits.burstBytes + ahead);
  clock.pass(10_000);
  await settled();
  for (let second = 0; second < 4; second++) clock.pass(1_000);
  expect(await settled()).toBeLessThan(frameLimits.burstBytes + 14 * frameLimits.bytesPerSecond + ahead);
  over.abort();
  channel.destroy();
  await served.catch(() => undefined);
});

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

test("accepts a result nested 200 levels deep, and no deeper one", async () => {
  expect(await readText(`{"type":"returned","value":${nested(200)}}`, 1_000)).toMatchObject({ type: "returned" });
  for (const depth of [201, 100_000]) {
    await expect(readText(`{"type":"returned","value":${nested(depth)}}`, 1_000)).rejects.toThrow(FrameFault);
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
