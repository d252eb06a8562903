import { expect, test } from "vitest";
import * as fc from "fast-check";
import { fromLedgerLine, toLedgerLine } from "../../src/ledger/ledger-line.ts";

test("a line is JSON with names as the wire has them, and one line end", () => {
  expect(toLedgerLine({ at: 0, tool: "read_blob", skill: "a.b", sessionId: "s\n1", door: "acp" })).toBe(
    '{"at":"1970-01-01T00:00:00.000Z","tool":"read_blob","skill":"a.b","session_id":"s\\n1","door":"acp"}\n',
  );
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
])("the line %j says nothing", (line) => {
  expect(fromLedgerLine(line)).toBeUndefined();
});

test("any text is read without a word", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.json()), (line) => {
      const entry = fromLedgerLine(line);
      expect(entry === undefined || typeof entry.tool === "string").toBe(true);
    }),
  );
});
