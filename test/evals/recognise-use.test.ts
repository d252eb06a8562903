import { expect, test } from "vitest";
import { recogniseUse } from "../../src/evals/recognise-use.ts";
import type { TranscriptEntry } from "../../src/conformance/transcript.ts";

function called(...calls: readonly object[]): readonly TranscriptEntry[] {
  return calls.map((call, line) => ({
    line,
    from: "agent",
    message: {
      method: "session/update",
      params: { sessionId: "s", update: { sessionUpdate: "tool_call", toolCallId: `c${line}`, ...call } },
    },
  }));
}

const row = (fields: object): string => JSON.stringify({ room: "uses", door: "mcp", ...fields });

test.each<[string, object]>([
  ["our tool", { title: "mcp__skills__describe_skill", rawInput: { name: "pdf-tools" } }],
  ["our tool, with its dotted name", { title: "skills_execute_skill", rawInput: { name: "pdf.tools" } }],
  ["code that mounts it", { title: "run_code", rawInput: { mount_skills: ["pdf-tools"], code: "" } }],
  ["the agent's own tool for skills", { title: "Skill", rawInput: { skill: "pdf-tools" } }],
  ["the agent's own tool, of a plugin", { title: "Use skill", rawInput: { skill: "office:pdf-tools" } }],
  ["a tool that says it in its title", { title: 'Activated skill "pdf-tools"' }],
  ["a read of SKILL.md", { title: "Read", rawInput: { file_path: "/p/.claude/skills/pdf-tools/SKILL.md" } }],
  ["a command that reads it", { title: "cat", rawInput: { command: "cat .agents/skills/pdf-tools/SKILL.md" } }],
  ["a place of the call", { title: "Read", locations: [{ path: "/p/.agents/skills/pdf-tools/x.md" }] }],
  ["Windows", { title: "Read", rawInput: { path: "C:\\p\\skills\\pdf-tools\\SKILL.md" } }],
])("recognises %s", (_what, call) => {
  expect(recogniseUse(called({ title: "ls" }, call), "pdf-tools", "")).toBe("used");
});

test.each<[string, object]>([
  ["a list of skills", { title: "list_skills", rawInput: { query: "pdf-tools" } }],
  ["another skill", { title: "describe_skill", rawInput: { name: "pdf-tools-2" } }],
  ["another skill's file", { title: "Read", rawInput: { path: "/p/skills/pdf-tools-2/SKILL.md" } }],
  ["a file of that name elsewhere", { title: "Write", rawInput: { path: "/p/pdf-tools/a.txt" } }],
  ["its name in a text", { title: "echo", rawInput: { command: "echo pdf-tools" } }],
])("does not take %s for a use", (_what, call) => {
  expect(recogniseUse(called(call), "pdf-tools", "")).toBe("unused");
});

test("a call is recognised by what its updates add", () => {
  const [first] = called({ title: "mcp tool" });
  const [second] = called({ sessionUpdate: "tool_call_update", title: "describe_skill", rawInput: { name: "pdf" } });
  expect(
    recogniseUse(
      [first, second].flatMap((entry) => entry ?? []),
      "pdf",
      "",
    ),
  ).toBe("used");
});

test("what the agent did not report is in the ledger; refusals and other skills are no use", () => {
  expect(recogniseUse([], "pdf", row({ tool: "read_skill_file", skill: "pdf" }))).toBe("used");
  for (const fields of [
    { tool: "list_skills", skill: "pdf" },
    { tool: "describe_skill", skill: "xls" },
    { tool: "describe_skill", skill: "pdf", event: "refusal" },
  ])
    expect(recogniseUse([], "pdf", row(fields))).toBe("unused");
});

test("work that was handed to another agent cannot be seen, unless its calls are shown", () => {
  const task = { title: "Task", rawInput: { prompt: "Merge them." } };
  expect(recogniseUse(called(task), "pdf", "")).toBe("unseen");
  expect(recogniseUse(called(task, { title: "describe_skill", rawInput: { name: "pdf" } }), "pdf", "")).toBe("used");
});

test("what an editor sends is not what the agent did", () => {
  const [entry] = called({ title: "describe_skill", rawInput: { name: "pdf" } });
  expect(recogniseUse(entry === undefined ? [] : [{ ...entry, from: "client" }], "pdf", "")).toBe("unused");
});
