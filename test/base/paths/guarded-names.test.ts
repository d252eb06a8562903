import { expect, test } from "vitest";
import { guardedAtTop, guardedEverywhere, guardedPart, isGitName } from "../../../src/base/paths/guarded-names.ts";

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
  expect(guardedPart(path)).toBe(part);
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
  expect(guardedPart(path)).toBeUndefined();
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
  expect(guardedPart(`a/${name}/hooks`)).toBe(`a/${name}`);
});
