import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { isGitName } from "../../../src/base/paths/guarded-names.ts";
import { isWithin, leadsIntoGit, liesIn } from "../../../src/base/paths/is-within.ts";

test("isWithin compares whole path segments", () => {
  expect(isWithin("/usr/lib", "/usr")).toBe(true);
  expect(isWithin("/usr", "/usr")).toBe(true);
  expect(isWithin("/usr-local", "/usr")).toBe(false);
  expect(isWithin("/anything", "/")).toBe(true);
});

describe("liesIn", () => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "acp-skills-below-")));
  mkdirSync(join(directory, "there"));
  symlinkSync(join(directory, "there"), join(directory, "link"), "junction");
  afterAll(() => {
    rmSync(directory, { recursive: true });
  });

  test.each([
    ["there/inside", "there", true],
    ["there", "link", true],
    ["link/not/there/yet", "there", true],
    ["there/yet", "link/yet", true],
    ["there", "there/yet", false],
    ["there-after", "there", false],
  ])("%s in %s: %s", (path, place, isIn) => {
    expect(liesIn(join(directory, path), join(directory, place))).toBe(isIn);
  });
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
