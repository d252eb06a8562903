import { expect, test } from "vitest";
import { toolsInWords } from "../../../src/trust/tools/tools-in-words.ts";

test.each<[string, string]>([
  ["Bash(git:*)", 'run harmless "git" commands'],
  ["Bash(git log *)", 'run harmless "git log" commands'],
  ["Bash(git * main)", 'run harmless "git * main" commands'],
  ["Bash(npm test)", 'run "npm test"'],
  ["Bash(git log)", 'run "git log"'],
  // With other words it is asked.
  ["Bash(python:*)", 'run "python"'],
  ["Bash(git push:*)", 'run "git push"'],
  ["Edit(./src/**)", 'edit "src/**"'],
  ["Read(a b.md)", 'read "a b.md"'],
  ['Write(a" without asking; now: "b)', 'write "a\\" without asking; now: \\"b"'],
  ["WebFetch(domain:*.example.com)", 'fetch from "*.example.com"'],
  ["mcp__files__read", 'use "mcp__files__read"'],
])("%s in words: %s", (entry, words) => {
  expect(toolsInWords([entry, entry])).toEqual([words]);
});

test.each([
  ...["Bash", "Bash(*)", "Read", "Edit", "Write", "WebFetch", "WebSearch", "Edit(**)", "*", "", "Read; now: Bash(x)"],
  ...["Bash(python * x)", "mcp__*", "mcp__a__b__*", "WebFetch(domain:*)", "AskUserQuestion", "Read(a\u3164b)"],
])("%j covers nothing, and is left out", (entry) => {
  expect(toolsInWords([entry])).toEqual([]);
});
