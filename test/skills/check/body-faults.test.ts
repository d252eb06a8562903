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

test("valid text of any length has no fault, wherever its characters are cut", () => {
  expect(findBodyFaults(fileWith("é😀文\n".repeat(200_000)))).toEqual([]);
  expect(findBodyFaults(fileWith("😀".repeat(200_000)))).toEqual([]);
  expect(findBodyFaults(fileWith(""))).toEqual([]);
});

test("the first invalid byte is found at its line and column", () => {
  const bytes = Buffer.concat([Buffer.from("---\nname: a\n---\n文字"), Buffer.from([0xe9]), Buffer.from("t\xe9\n")]);
  expect(findBodyFaults(fileWith(bytes))).toMatchObject([{ code: "invalid-utf8", line: 4, column: 3 }]);
});

test("it is found behind the first blocks too", () => {
  const bytes = Buffer.concat([Buffer.from("line\n".repeat(300_000)), Buffer.from([0xff])]);
  expect(findBodyFaults(fileWith(bytes))).toMatchObject([{ line: 300_001, column: 1 }]);
});

test("a huge file is read in part only", () => {
  const file = fileWith("---\nname: a\n---\n");
  truncateSync(file, 2 * 1024 ** 3);
  expect(findBodyFaults(file)).toEqual([]);
});

test("what is not a file has no fault here", () => {
  expect(findBodyFaults(directory)).toEqual([]);
  expect(findBodyFaults(path.join(directory, "nothing"))).toEqual([]);
});

test("the first character of the body that cannot be seen is found at its place, and none in frontmatter or in emoji", () => {
  const text = "---\nname: a\u200b\n---\n👩‍💻 ⚠️\n文hid\u200bden\u{e0041}\n";
  expect(findBodyFaults(fileWith(text))).toMatchObject([{ code: "invisible-characters", line: 5, column: 5 }]);
  expect(findBodyFaults(fileWith(`${"line\n".repeat(300_000)}a\u2060b`))).toMatchObject([{ line: 300_001, column: 2 }]);
});
