import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  guardedAtTop,
  guardedEverywhere,
  guardedSegment,
  isGitName,
  leadsIntoGit,
} from "../../../src/base/paths/guarded-names.ts";

test("each guarded name is listed once, in lower case", () => {
  const names = [...guardedEverywhere, ...guardedAtTop];
  expect(names).toEqual([...new Set(names.map((name) => name.toLowerCase()))]);
});

test.each([
  ["CLAUDE.local.md", "CLAUDE.local.md"],
  ["QWEN.md", "QWEN.md"],
  ["AGENTS.override.md", "AGENTS.override.md"],
  [".rules", ".rules"],
  [".cursorrules", ".cursorrules"],
  [".windsurfrules", ".windsurfrules"],
  [".goosehints", ".goosehints"],
  [".kimi/mcp.json", ".kimi"],
  [".direnv/bin/tool", ".direnv"],
  [".github/copilot-instructions.md", ".github"],
  ["src/AGENTS.md", "src/AGENTS.md"],
  ["src/.claude/settings.json", "src/.claude"],
  ["./a//b/.vscode/tasks.json", "a/b/.vscode"],
  ["src\\.git\\hooks", "src/.git"],
  ["node_modules/.bin/build", "node_modules"],
])("%s is guarded", (path, part) => {
  expect(guardedSegment(path)).toBe(part);
});

test.each([
  "src/index.ts",
  "src/node_modules/x",
  "src/.editorconfig",
  "",
  ".",
  "..",
  "gitx",
  ".gitignore",
  "agents.md.bak",
])("%j is free", (path) => {
  expect(guardedSegment(path)).toBeUndefined();
});

test.each([
  ".git",
  ".GIT",
  ".Git ",
  ".git.",
  ".g\u200cit",
  ".git::$INDEX_ALLOCATION",
  ".git:x",
  "GIT~1",
  "．git",
  ".ｇit",
])("%j is a spelling of .git", (name) => {
  expect(isGitName(name)).toBe(true);
  expect(guardedSegment(`a/${name}/hooks`)).toBe(`a/${name}`);
});

test.each([
  ".git",
  ".GIT",
  ".git.",
  ".git ",
  ".git . .",
  "git~1",
  "GIT~2",
  ".g\u200cit",
  "\ufeff.git",
  ".git::$INDEX_ALLOCATION",
])("some file system takes %j for .git", (name) => {
  expect(isGitName(name)).toBe(true);
});

test.each([".github", ".gitignore", "git", "a.git", "git~", ".git-x"])("no file system takes %j for .git", (name) => {
  expect(isGitName(name)).toBe(false);
});

test("a path leads into git by a name, or by what is in a directory, below the one that is given", () => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "acp-skills-git-")));
  try {
    for (const name of ["bare.data/objects", "bare.data/refs", "bare.data/main", "worktree", "half/objects"])
      mkdirSync(join(directory, name), { recursive: true });
    for (const name of ["bare.data/HEAD", "worktree/HEAD", "worktree/commondir", "half/HEAD"])
      writeFileSync(join(directory, name), "");
    const leads = (path: string, above = "."): boolean => leadsIntoGit(join(directory, path), join(directory, above));
    expect(
      [".git/hooks/x", "a/.Git/x", "bare.data", "bare.data/hooks/x", "worktree/x"].filter((path) => !leads(path)),
    ).toEqual([]);
    expect(["a", "half/x", ".github/x", "."].filter((path) => leads(path))).toEqual([]);
    // A worktree may lie in its repository.
    expect(leads("bare.data/main/x", "bare.data/main")).toBe(false);
    expect(leads("a/x", "elsewhere")).toBe(false);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
