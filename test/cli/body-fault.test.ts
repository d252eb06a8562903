import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findBodyFault } from "../../src/cli/body-fault.ts";

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
  expect(findBodyFault(fileWith("é😀文\n".repeat(200_000)))).toBeUndefined();
  expect(findBodyFault(fileWith("😀".repeat(200_000)))).toBeUndefined();
  expect(findBodyFault(fileWith(""))).toBeUndefined();
});

test("the first invalid byte is found at its line and column", () => {
  const bytes = Buffer.concat([Buffer.from("---\nname: a\n---\n文字"), Buffer.from([0xe9]), Buffer.from("t\xe9\n")]);
  expect(findBodyFault(fileWith(bytes))).toMatchObject({ code: "invalid-utf8", line: 4, column: 3 });
});

test("it is found behind the first blocks too", () => {
  const bytes = Buffer.concat([Buffer.from("line\n".repeat(300_000)), Buffer.from([0xff])]);
  expect(findBodyFault(fileWith(bytes))).toMatchObject({ line: 300_001, column: 1 });
});

test("a huge file is read in part only", () => {
  const file = fileWith("---\nname: a\n---\n");
  truncateSync(file, 2 * 1024 ** 3);
  expect(findBodyFault(file)).toBeUndefined();
});

test("what is not a file has no fault here", () => {
  expect(findBodyFault(directory)).toBeUndefined();
  expect(findBodyFault(path.join(directory, "nothing"))).toBeUndefined();
});
