import { expect, test } from "vitest";
import * as fc from "fast-check";
import { fromLedgerLine, toLedgerLine } from "../../src/ledger/ledger-line.ts";

test("a line is JSON with the names of the wire, and one line end", () => {
  expect(toLedgerLine({ at: 0, tool: "read_blob", skill: "a.b", sessionId: "s\n1", door: "acp" })).toBe(
    '{"at":"1970-01-01T00:00:00.000Z","tool":"read_blob","skill":"a.b","session_id":"s\\n1","door":"acp"}\n',
  );
});

test("outcome, code, version and run id are kept; a line without them, of an earlier version, is read", () => {
  const before = { at: 0, tool: "execute_skill", skill: "a.b", sessionId: "s1", door: "mcp" };
  const entry = {
    ...before,
    version: "1.2.0",
    runId: "run_0123456789",
    outcome: "failed",
    code: "ValueError",
  } as const;
  expect(fromLedgerLine(toLedgerLine(entry))).toEqual(entry);
  expect(fromLedgerLine(toLedgerLine(before))).toEqual(before);
});

test("an outcome of a later version is ignored, and the rest is read", () => {
  const line = toLedgerLine({ at: 0, tool: "x", door: "mcp", outcome: "completed" }).replace("completed", "queued");
  expect(fromLedgerLine(line)).toEqual({ at: 0, tool: "x", door: "mcp" });
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
  expect(fromLedgerLine(line)).toBeUndefined();
});

test("any text is read without an error", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.json()), (line) => {
      const entry = fromLedgerLine(line);
      expect(entry === undefined || typeof entry.tool === "string").toBe(true);
    }),
  );
});
