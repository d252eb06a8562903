import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listSkillContents } from "../../../src/skills/files/skill-contents.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "acp-skills-contents-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

function write(...files: readonly string[]): void {
  for (const file of files) {
    mkdirSync(path.join(directory, file, ".."), { recursive: true });
    writeFileSync(path.join(directory, file), "");
  }
}

test("lists files near the top first, without hidden files, caches, symlinks and nested skills", async () => {
  write("a/b/deep.py", "a/x.py", "z.md", "SKILL.md", "B.md", ".env", ".git/HEAD", "node_modules/m/i.js");
  write("a/__pycache__/x.pyc", "inner/SKILL.md", "inner/secret.md", "lower/skill.md", "lower/deeper/more.md");
  symlinkSync("/etc", path.join(directory, "etc"));
  expect(await listSkillContents(directory, 100)).toEqual({
    paths: ["B.md", "SKILL.md", "z.md", "a/x.py", "a/b/deep.py"],
    more: false,
  });
});

test("lists at most the limit and reports whether there are more", async () => {
  write("a", "b", "c");
  expect(await listSkillContents(directory, 2)).toEqual({ paths: ["a", "b"], more: true });
  expect(await listSkillContents(directory, 3)).toEqual({ paths: ["a", "b", "c"], more: false });
});

test("lists no files for a missing directory", async () => {
  expect(await listSkillContents(path.join(directory, "gone"), 9)).toEqual({ paths: [], more: false });
});
