import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { replaceFile } from "../../../src/base/paths/replace-file.ts";

let directory: string;
beforeEach(() => {
  directory = realpathSync(mkdtempSync(path.join(tmpdir(), "replace-file-")));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

test("replaces the text, keeps the mode and leaves no temporary file", () => {
  const file = path.join(directory, "SKILL.md");
  writeFileSync(file, "old");
  chmodSync(file, 0o640);
  replaceFile(file, "new");
  expect(readFileSync(file, "utf8")).toBe("new");
  expect(statSync(file).mode & 0o777).toBe(0o640);
  expect(readdirSync(directory)).toEqual(["SKILL.md"]);
});

test("rejects a symlink without following or replacing it", () => {
  const target = path.join(directory, "target.md");
  const link = path.join(directory, "SKILL.md");
  writeFileSync(target, "old");
  symlinkSync("target.md", link);
  expect(() => {
    replaceFile(link, "new");
  }).toThrow("is not a regular file");
  expect(readFileSync(target, "utf8")).toBe("old");
  expect(readlinkSync(link)).toBe("target.md");
});

test("does not create a missing file", () => {
  expect(() => {
    replaceFile(path.join(directory, "SKILL.md"), "new");
  }).toThrow(/ENOENT/);
  expect(readdirSync(directory)).toEqual([]);
});
