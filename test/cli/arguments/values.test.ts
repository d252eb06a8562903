import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseSince, toWords } from "../../../src/cli/arguments/values.ts";

const now = Date.parse("2026-11-22T12:00:00Z");
const since = (text: string): string => new Date(parseSince("--since", text, now)).toISOString();

test.each([
  ["90s", "2026-11-22T11:58:30.000Z"],
  ["30m", "2026-11-22T11:30:00.000Z"],
  ["2h", "2026-11-22T10:00:00.000Z"],
  ["7d", "2026-11-15T12:00:00.000Z"],
  ["1w", "2026-11-15T12:00:00.000Z"],
  ["2026-11-01", "2026-11-01T00:00:00.000Z"],
  ["2024-02-29", "2024-02-29T00:00:00.000Z"],
  ["2026-11-01T08:30", "2026-11-01T08:30:00.000Z"],
  ["2026-11-01T08:30:15Z", "2026-11-01T08:30:15.000Z"],
  ["2026-11-01T08:30:15.5+02:00", "2026-11-01T06:30:15.500Z"],
])("%s is %s", (text, expected) => {
  expect(since(text)).toBe(expected);
});

test.each([
  "",
  "2",
  "h",
  "-2h",
  "2 h",
  "2.5h",
  "2y",
  "1234567d",
  "yesterday",
  "22.11.2026",
  "2026-11",
  "2026-02-30",
  "2026-13-01",
  "2026-11-01T25:00",
  "2026-11-01 08:30",
  "2026-11-01Z",
])("%j is refused", (text) => {
  expect(() => since(text)).toThrow(/^--since needs a duration such as 90m or 7d, or a date such as/);
});

test("an instant, written in any precision that the table or JSON prints, is that instant", () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date("9999-12-31"), noInvalidDate: true }), (date) => {
      expect(since(date.toISOString())).toBe(date.toISOString());
      expect(since(`${date.toISOString().slice(0, 19)}Z`)).toBe(`${date.toISOString().slice(0, 19)}.000Z`);
    }),
  );
});

test("no text makes it return anything but a time or throw anything but a usage error", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      try {
        expect(parseSince("--since", text, now)).not.toBeNaN();
      } catch (error) {
        expect(error).toMatchObject({ code: "INVALID_OPTIONS" });
      }
    }),
  );
});

test.each([
  ["gemini --acp", ["gemini", "--acp"]],
  [' "C:\\Program Files\\a.exe"  --x=\'a b\'c ""', ["C:\\Program Files\\a.exe", "--x=a bc", ""]],
  ["it's", ["it's"]],
  ["", []],
])("the words of %s", (line, words) => {
  expect(toWords(line)).toEqual(words);
});
