import { expect, test } from "vitest";
import { readOptional } from "../../../src/skills/manifest/skill-fields.ts";

test.each([
  ["Read Write", ["Read", "Write"]],
  ["Read, Write,Edit", ["Read", "Write", "Edit"]],
  ["Bash(git add *), Read", ["Bash(git add *)", "Read"]],
  ["Bash(git:*) Bash(jq:*)", ["Bash(git:*)", "Bash(jq:*)"]],
  ["Bash(a, (b c) d) Read", ["Bash(a, (b c) d)", "Read"]],
  ["Bash(open Read", ["Bash(open Read"]],
  ["a) b", ["a)", "b"]],
  ["a) (b c) d", ["a)", "(b c)", "d"]],
  ["", []],
  [" , ", []],
  [
    ["Bash(git add *)", " Read ", ""],
    ["Bash(git add *)", "Read"],
  ],
  [["a, b"], ["a, b"]],
  [[["Read"]], undefined],
  [{ Read: "true" }, undefined],
  [null, undefined],
])("reads the allowed tools %j as %j", (value, tools) => {
  expect(readOptional({ "allowed-tools": value }, () => undefined).allowedTools).toEqual(tools);
});
