import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findBodyFaults } from "../../../src/skills/check/body-faults.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "body-fault-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

function fileWith(bytes: string | Uint8Array): string {
  const file = path.join(directory, "SKILL.md");
  writeFileSync(file, bytes);
  return file;
}

test("accepts valid text of any length, wherever read blocks split its characters", () => {
  expect(findBodyFaults(fileWith("é😀文\n".repeat(200_000)))).toEqual([]);
  expect(findBodyFaults(fileWith("😀".repeat(200_000)))).toEqual([]);
  expect(findBodyFaults(fileWith(""))).toEqual([]);
});

test("reports the first invalid byte with its line and column", () => {
  const bytes = Buffer.concat([Buffer.from("---\nname: a\n---\n文字"), Buffer.from([0xe9]), Buffer.from("t\xe9\n")]);
  expect(findBodyFaults(fileWith(bytes))).toMatchObject([{ code: "invalid-utf8", line: 4, column: 3 }]);
});

test("finds an invalid byte after the first blocks", () => {
  const bytes = Buffer.concat([Buffer.from("line\n".repeat(300_000)), Buffer.from([0xff])]);
  expect(findBodyFaults(fileWith(bytes))).toMatchObject([{ line: 300_001, column: 1 }]);
});

test("reads only part of a huge file", () => {
  const file = fileWith("---\nname: a\n---\n");
  truncateSync(file, 2 * 1024 ** 3);
  expect(findBodyFaults(file)).toEqual([]);
});

test("reports nothing for a directory or a missing file", () => {
  expect(findBodyFaults(directory)).toEqual([]);
  expect(findBodyFaults(path.join(directory, "nothing"))).toEqual([]);
});

test("reports the first invisible character of the body, but none in frontmatter or emoji", () => {
  const text = "---\nname: a\u200b\n---\n👩‍💻 ⚠️\n文hid\u200bden\u{e0041}\n";
  expect(findBodyFaults(fileWith(text))).toMatchObject([{ code: "invisible-characters", line: 5, column: 5 }]);
  expect(findBodyFaults(fileWith(`${"line\n".repeat(300_000)}a\u2060b`))).toMatchObject([{ line: 300_001, column: 2 }]);
});
