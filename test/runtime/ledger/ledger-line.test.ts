import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { LedgerEntry } from "../../../src/runtime/ledger.ts";
import { fromLedgerLine, toLedgerLine } from "../../../src/runtime/ledger/ledger-line.ts";

const end = { rows: 3, digest: "ab".repeat(32) };

test("a line is JSON with wire names", () => {
  expect(
    toLedgerLine({ at: 0, tool: "read_blob", skill: "a.b", sessionId: "s\n1", door: "acp" }, { rows: 7, digest: "00" }),
  ).toBe(
    '{"at":"1970-01-01T00:00:00.000Z","tool":"read_blob","skill":"a.b","session_id":"s\\n1","door":"acp","after":7,"chain":"00"}',
  );
});

test("round-trips outcome, code, version and run id, and parses older lines without them", () => {
  const before = { at: 0, tool: "execute_skill", skill: "a.b", sessionId: "s1", door: "mcp" };
  const entry = {
    ...before,
    version: "1.2.0",
    runId: "run_0123456789",
    outcome: "failed",
    code: "ValueError",
  } as const;
  expect(fromLedgerLine(toLedgerLine(entry, end))).toEqual({ entry, before: end });
  expect(fromLedgerLine(toLedgerLine(before, end))).toEqual({ entry: before, before: end });
});

test("round-trips who allowed what", () => {
  const answer: LedgerEntry = {
    at: 0,
    event: "answer",
    tool: "execute_skill",
    skill: "a.b",
    version: "1.2.0",
    digest: `sha256:${"a".repeat(64)}`,
    outcome: "allowed",
    answer: "trust",
    grant: "grant_0123456789abcdef",
    door: "mcp",
  };
  expect(fromLedgerLine(toLedgerLine(answer, end))).toEqual({ entry: answer, before: end });
});

test("the line of an entry whose texts all are as long as possible stays below 32 KiB", () => {
  const long = "\u0001".repeat(1_000_000);
  const names = ["event", "skill", "version", "digest", "runId", "code", "about", "answer", "grant", "sessionId"];
  const texts = Object.fromEntries(names.map((name) => [name, long]));
  expect(toLedgerLine({ at: 0, tool: long, door: long, outcome: "failed", ...texts }, end).length).toBeLessThan(
    32 * 1024,
  );
});

test("a long text keeps its start, end, length and digest", () => {
  const about = `run ${"x".repeat(5_000)} with AWS_SECRET_ACCESS_KEY`;
  const kept = fromLedgerLine(toLedgerLine({ at: 0, tool: "x", door: "mcp", about }, end)).entry?.about ?? "";
  expect(kept).toMatch(/^run x{124} … x+ with AWS_SECRET_ACCESS_KEY \(5031 characters, sha256:[0-9a-f]{64}\)$/);
  const other = { at: 0, tool: "x", door: "mcp", about: about.replace("xxx ", "xyx ").replace(/x{9}/, "yyyyyyyyy") };
  expect(fromLedgerLine(toLedgerLine(other, end)).entry?.about).not.toBe(kept);
});

test("an event of a later version is read with its name", () => {
  const line = toLedgerLine({ at: 0, event: "ask", tool: "x", door: "mcp" }, end).replace("ask", "vote");
  expect(fromLedgerLine(line).entry).toEqual({ at: 0, event: "vote", tool: "x", door: "mcp" });
});

test("ignores an unknown outcome of a later version and parses the rest", () => {
  const line = toLedgerLine({ at: 0, tool: "x", door: "mcp", outcome: "completed" }, end).replace(
    "completed",
    "queued",
  );
  expect(fromLedgerLine(line).entry).toEqual({ at: 0, tool: "x", door: "mcp" });
});

test.each([
  "",
  "null",
  "[]",
  "{}",
  "\u0000\u0000",
  '{"at":"2026-11-21T10:00:00.000Z","tool":"x"',
  '{"at":"yesterday","tool":"x","door":"mcp"}',
  '{"at":"2026-11-21T10:00:00.000Z","tool":1,"door":"mcp"}',
])("%j is no entry", (line) => {
  expect(fromLedgerLine(line)).toEqual({});
});

test("parses any text without throwing", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.json()), (line) => {
      const { entry } = fromLedgerLine(line);
      expect(entry === undefined || typeof entry.tool === "string").toBe(true);
    }),
  );
});
