import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RunResult } from "../../../../src/runtime/runs/run-spec.ts";
import {
  type Outcome,
  compareOutcomes,
  jsonDifferences,
  readOutcome,
  textDifference,
} from "../../../../src/runtime/runs/replay.ts";
import { memoryBlobs } from "../../blobs/memory-blobs.ts";
import { refusal } from "../../tools/open-tools.ts";
import type { Json } from "../../../../src/runtime/sandbox.ts";

const ended: RunResult = {
  status: "completed",
  run_id: "run_0000000001",
  summary: "Completed.",
  output: null,
  output_blobs: [],
  logs_preview: "",
  duration_ms: 9,
  limits_applied: { timeout_ms: 30_000, memory_mb: 512, isolation: "memory" },
};
const sha256 = (letter: string): string => letter.repeat(64);

describe("reading what a run came to", () => {
  test("names blobs by their contents, wherever an id stands, and files by their paths", async () => {
    const blobs = memoryBlobs();
    const read = async (): Promise<Outcome> => {
      const { id } = await blobs.put("me", "text/csv", Buffer.from("a,b"));
      const output = { table: id, all: [`see ${id}.`], [id]: 1 };
      const events = [{ atMs: 0, type: "blob_kept", blobId: id, path: "out.csv" }];
      const summary = `Completed. Output files: out.csv (${id}).`;
      return await readOutcome({ result: { ...ended, output, output_blobs: [id], summary }, events }, blobs, "me");
    };
    const [one, other] = [await read(), await read()];
    expect(one).toEqual(other);
    expect(one.blobs).toMatchObject([{ path: "out.csv", kind: "text/csv" }]);
    expect(JSON.stringify(one)).not.toContain("blob:");
    expect(JSON.stringify(one.output)).toContain("blob sha256:");
  });

  test("reads an output that was too long for the result, so that the order of its keys does not count", async () => {
    const blobs = memoryBlobs();
    const read = async (whole: object): Promise<Outcome> => {
      const json = JSON.stringify(whole);
      const { id } = await blobs.put("me", "application/json", Buffer.from(json));
      const output = { truncated: true, blob_id: id, size_bytes: json.length, preview: json.slice(0, 10) };
      return await readOutcome({ result: { ...ended, output, output_blobs: [id] }, events: [] }, blobs, "me");
    };
    const outcome = await read({ a: 1, b: 2 });
    expect(outcome.output).toEqual({ a: 1, b: 2 });
    expect((await read({ b: 2, a: 1 })).output).toEqual(outcome.output);
  });

  test("takes an object of the program that only looks like a long output as it is", async () => {
    const output = { truncated: true, blob_id: `blob:${"0".repeat(32)}` };
    expect((await readOutcome({ result: { ...ended, output }, events: [] }, memoryBlobs(), "me")).output).toEqual(
      output,
    );
  });

  test("reads the blobs that a result only counts", async () => {
    const blobs = memoryBlobs();
    const { id } = await blobs.put("me", "text/plain", Buffer.from("further"));
    const list = await blobs.put("me", "application/json", Buffer.from(JSON.stringify([id])));
    const result: RunResult = { ...ended, more_output_blobs: { count: 1, blob_id: list.id } };
    expect((await readOutcome({ result, events: [] }, blobs, "me")).blobs).toMatchObject([{ kind: "text/plain" }]);
  });

  test("throws BLOB_NOT_FOUND if a blob of the output is gone", async () => {
    const result: RunResult = { ...ended, output_blobs: [`blob:${"0".repeat(32)}`] };
    expect(await refusal(readOutcome({ result, events: [] }, memoryBlobs(), "me"))).toMatchObject({
      code: "BLOB_NOT_FOUND",
    });
  });
});

describe("two outcomes", () => {
  const outcome: Outcome = {
    status: "completed",
    output: { exit_code: 0, stdout: "a\nb\n", stderr: "" },
    error: undefined,
    blobs: [
      { path: "a.csv", kind: "text/csv", sha256: sha256("a") },
      { path: undefined, kind: "text/plain", sha256: sha256("b") },
      { path: undefined, kind: "text/plain", sha256: sha256("c") },
    ],
    said: { summary: "Completed.", message: "", logs: "pid 1\n" },
  };

  test("are the same whatever the order of blobs", () => {
    expect(compareOutcomes(outcome, { ...outcome, blobs: outcome.blobs.toReversed() })).toEqual({
      differences: [],
      asides: [],
    });
  });

  test("differ in what a script printed and how it ended", () => {
    const output = { exit_code: 0, stdout: "a\nc\n", stderr: "" };
    expect(compareOutcomes(outcome, { ...outcome, output }).differences).toEqual([
      { where: "output/stdout line 2", before: '"b"', after: '"c"' },
    ]);
    const failed = (code: number): Outcome => ({
      ...outcome,
      status: "failed",
      output: undefined,
      error: { type: "ScriptError", exit_code: code, stdout: "", stderr: "" },
    });
    expect(compareOutcomes(failed(1), failed(2)).differences).toEqual([
      { where: "error/exit_code", before: "1", after: "2" },
    ]);
    expect(compareOutcomes(outcome, failed(1)).differences.map(({ where }) => where)).toEqual([
      "status",
      "output",
      "error",
    ]);
  });

  test("differ in the content of a file, in a lost and in a further blob", () => {
    const [first, second] = outcome.blobs;
    const blobs = [{ ...first!, sha256: sha256("d") }, second!, second!];
    expect(compareOutcomes(outcome, { ...outcome, blobs }).differences).toEqual([
      { where: "blob of kind text/plain", before: `sha256:${sha256("c")}`, after: `sha256:${sha256("b")}` },
      { where: 'file "a.csv"', before: `sha256:${sha256("a")}`, after: `sha256:${sha256("d")}` },
    ]);
    expect(compareOutcomes(outcome, { ...outcome, blobs: outcome.blobs.slice(1) }).differences).toEqual([
      { where: 'file "a.csv"', before: `sha256:${sha256("a")}`, after: undefined },
    ]);
  });

  test("with other logs, summaries or messages are the same, and the difference is reported", () => {
    const said = { summary: "Done.", message: "at 0x7f", logs: "pid 2\n" };
    expect(compareOutcomes(outcome, { ...outcome, said })).toEqual({
      differences: [],
      asides: [
        { where: "summary", before: '"Completed."', after: '"Done."' },
        { where: "message", before: '""', after: '"at 0x7f"' },
        { where: "logs line 1", before: '"pid 1"', after: '"pid 2"' },
      ],
    });
  });
});

const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as Json);
const differences = (one: Json | undefined, other: Json | undefined, limit = 20) =>
  jsonDifferences("output", one, other, limit);

/** The same value with the keys of all its objects in reverse order. */
function reversed(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(reversed);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reversed(item)]),
  );
}

/** JSON with sorted keys: equal texts for equal values. */
function canonical(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(",")}}`;
}

describe("the differences of two JSON values", () => {
  test("there are none if only the order of keys differs", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(differences(value, reversed(value))).toEqual([]);
      }),
    );
  });

  test("there are some exactly if their canonical texts differ, in either direction", () => {
    const changed = json.chain((value) => fc.tuple(fc.constant(value), fc.oneof(json, fc.constant(value))));
    fc.assert(
      fc.property(changed, ([one, other]) => {
        const isSame = canonical(one) === canonical(other);
        expect(differences(one, other).length === 0).toBe(isSame);
        expect(differences(other, one).length === 0).toBe(isSame);
      }),
    );
  });

  test("name each place by its pointer, with both values", () => {
    expect(differences({ a: [1, 2], "x/y~": true, gone: null }, { a: [1, 3, 4], "x/y~": false })).toEqual([
      { where: "output/a/1", before: "2", after: "3" },
      { where: "output/a/2", before: undefined, after: "4" },
      { where: "output/x~1y~0", before: "true", after: "false" },
      { where: "output/gone", before: "null", after: undefined },
    ]);
    expect(differences([1], { 0: 1 })).toEqual([{ where: "output", before: "[1]", after: '{"0":1}' }]);
    expect(differences(undefined, null)).toEqual([{ where: "output", before: undefined, after: "null" }]);
  });

  test("see keys called __proto__", () => {
    const [one, other] = ['{"__proto__":1}', '{"__proto__":2}'].map((text) => JSON.parse(text) as Json);
    expect(differences(one, other)).toEqual([{ where: "output/__proto__", before: "1", after: "2" }]);
  });

  test("are at most as many as asked for, and each is short", () => {
    const long = (letter: string) => Array.from({ length: 1_000 }, () => letter.repeat(10_000));
    const found = differences(long("a"), long("b"), 5);
    expect(found).toHaveLength(5);
    for (const { before = "" } of found) expect(before.length).toBeLessThanOrEqual(120);
  });

  test("of values as deep as a result can be are found", () => {
    const deep = (leaf: Json): Json => Array.from({ length: 200 }).reduce<Json>((inner) => [inner], leaf);
    expect(differences(deep(1), deep(2))).toEqual([{ where: `output${"/0".repeat(200)}`, before: "1", after: "2" }]);
  });
});

describe("the difference of two texts", () => {
  test("is the first line that differs", () => {
    expect(textDifference("logs", "a\nb\nc\n", "a\nx\ny\n")).toEqual({
      where: "logs line 2",
      before: '"b"',
      after: '"x"',
    });
    expect(textDifference("logs", "a\n", "a\nb\n")).toEqual({ where: "logs line 2", before: '""', after: '"b"' });
    expect(textDifference("logs", "a\nb", "a")).toEqual({ where: "logs line 2", before: '"b"', after: undefined });
  });

  test("shows long lines from shortly before their difference", () => {
    const same = "=".repeat(1_000);
    const { before, after } = textDifference("logs", `${same}one`, `${same}two`);
    expect([before, after]).toEqual([`"…${"=".repeat(20)}one"`, `"…${"=".repeat(20)}two"`]);
  });

  test("is one, whatever two different texts are", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "\n") });
    fc.assert(
      fc.property(text, text, (one, other) => {
        fc.pre(one !== other);
        const { before, after } = textDifference("logs", one, other);
        expect(before).not.toBe(after);
      }),
    );
  });
});
