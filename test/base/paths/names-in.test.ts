import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { namesIn } from "../../../src/base/paths/names-in.ts";

test("a directory that does not exist has no names, and a file is an error", () => {
  const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-names-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, "one");
  writeFileSync(file, "");
  expect(namesIn(directory)).toEqual(["one"]);
  expect(namesIn(path.join(directory, "two"))).toEqual([]);
  expect(() => namesIn(file)).toThrow("ENOTDIR");
});
