import * as fc from "fast-check";
import { expect, test } from "vitest";
import { toolsContain, toolsOverlap } from "../../../../src/trust/policy/rules/tool-rule.ts";

test.each([
  ["Bash", "Bash(rm:*)", true],
  ["Bash(git:*)", "Bash(git add:*)", true],
  ["Bash(git:*)", "Bash(git add *)", true],
  ["Bash(git *)", "Bash(git status)", true],
  ["Bash(git:*)", "Bash(gitx:*)", false],
  ["Bash(git:*)", "Bash(git status; rm -rf /)", false],
  ["Bash(git:*)", "Bash(git $(x))", false],
  ["Bash(git:*)", "Bash", false],
  ["Bash(git:*)", "Bash(*)", false],
  ["Bash(*)", "Bash", true],
  ["mcp__github__*", "mcp__github__search", true],
  ["mcp__github__*", "mcp__gitlab__search", false],
  ["Read", "Read(./src/**)", true],
  ["Read(./src/**)", "Read(./src/a)", false],
  ["Read(./src/**)", "Read(./src/**)", true],
])("%s contains %s: %s", (rule, asked, contained) => {
  expect(toolsContain(rule, asked)).toBe(contained);
});

test.each([
  ["Bash(git push:*)", "Bash(git:*)", true],
  ["Bash(git push:*)", "Bash", true],
  ["Bash(git push:*)", "bash(git *)", true],
  ["Bash(git push:*)", "Bash(npm:*)", false],
  ["Read(./secrets/**)", "Read(secrets/**)", true],
  ["Write", "Read", false],
  ["mcp__*", "mcp__a__b(x)", true],
  ["Read", "(what", true],
])("%s overlaps with %s: %s", (rule, asked, overlaps) => {
  expect(toolsOverlap(rule, asked)).toBe(overlaps);
});

test("what contains uses also overlaps with them", () => {
  const tool = fc.constantFrom(
    "Bash",
    "Bash(git:*)",
    "Bash(git add *)",
    "Bash(git status)",
    "Read",
    "Read(a)",
    "mcp__*",
    "mcp__a",
    "*",
  );
  fc.assert(
    fc.property(tool, tool, (one, other) => {
      if (toolsContain(one, other)) expect(toolsOverlap(one, other)).toBe(true);
    }),
  );
});
