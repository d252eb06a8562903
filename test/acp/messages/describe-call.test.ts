import fc from "fast-check";
import { expect, test } from "vitest";
import { type BlobFacts, codeContent, describeCall, describeForUser } from "../../../src/acp/messages/describe-call.ts";
import { servedTools } from "../../../src/wire/tools.ts";

const textPart = (text: string): object => ({ type: "text", text });
const contentPart = (text: string): object => ({ type: "content", content: textPart(text) });

test.each<[string, object | undefined, string, string]>([
  [
    "execute_skill",
    { name: "rows.clean", args: { file: "table.csv" } },
    "Run skill rows.clean on table.csv",
    "execute",
  ],
  ["execute_skill", { name: "rows.clean" }, "Run skill rows.clean", "execute"],
  ["execute_skill", undefined, "Run a skill", "execute"],
  [
    "execute_skill",
    { name: "pdf", script: "scripts/extract.py", args: { argv: ["--in", "a.pdf"] } },
    "Run scripts/extract.py of skill pdf on --in, a.pdf",
    "execute",
  ],
  ["run_code", { code: "x", mount_skills: ["rows.clean"] }, "Run Python code with rows.clean", "execute"],
  ["run_code", {}, "Run Python code", "execute"],
  ["describe_skill", { name: "pdf" }, "Describe skill pdf", "read"],
  ["read_skill_file", { name: "pdf", path: "forms.md" }, "Read skill file pdf/forms.md", "read"],
  ["create_blob", { content: "x" }, "Create a blob", "other"],
  ["create_blob", { path: "data/x.csv" }, "Create a blob from data/x.csv", "read"],
  ["read_blob", { blob_id: "blob:abc" }, "Read a blob", "read"],
  ["read_blob", { blob_id: "blob:abc", save_as: "out.csv" }, "Write a blob to out.csv", "edit"],
  ["list_skills", {}, "List skills", "read"],
  ["load_skills_protocol_guide", {}, "Read the Skills Protocol guide", "read"],
])("describes %s with %j as %j", (tool, input, title, kind) => {
  expect(describeCall(tool, input)).toEqual({ title, kind });
});

const csv = { size: 58, kind: "text/csv;charset=utf-8" };
const blobs = new Map<string, BlobFacts>([
  ["blob:1", csv],
  ["blob:2", { size: 1_160_000, kind: "image/png" }],
  ["blob:3", { size: 2_000 }],
  ["blob:4", { size: 10, kind: "text/csv", path: "data/x.csv" }],
  ["blob:5", { kind: "text/csv" }],
]);

test.each<[string, object, string]>([
  ["execute_skill", { name: "rows", args: { file: "blob:1" } }, "Run skill rows on 58 bytes of text/csv"],
  ["execute_skill", { name: "rows", args: { file: "blob:3" } }, "Run skill rows on 2 kB of data"],
  ["execute_skill", { name: "rows", args: { file: "blob:5" } }, "Run skill rows on a blob of text/csv"],
  ["execute_skill", { name: "rows", args: { file: "blob:9" } }, "Run skill rows on a blob"],
  [
    "execute_skill",
    { name: "join", args: { a: "blob:1", b: "blob:2", c: "blob:3" } },
    "Run skill join on 3 blobs (1.2 MB)",
  ],
  [
    "execute_skill",
    { name: "join", args: { a: "blob:1", b: "blob:9", how: "left" } },
    "Run skill join on 2 blobs, left",
  ],
  ["execute_skill", { name: "join", args: { a: "blob:1", b: "blob:1" } }, "Run skill join on 58 bytes of text/csv"],
  [
    "execute_skill",
    { name: "join", args: { a: "blob:4", b: "blob:1" } },
    "Run skill join on data/x.csv, 58 bytes of text/csv",
  ],
  ["execute_skill", { name: "rows", input_blobs: ["blob:1", "blob:3", 7] }, "Run skill rows on 2 blobs (2.1 kB)"],
  [
    "execute_skill",
    { name: "rows", args: { f: "blob:1" }, input_blobs: ["blob:1"] },
    "Run skill rows on 58 bytes of text/csv",
  ],
  ["run_code", { code: "x", input_blobs: ["blob:1"] }, "Run Python code on 58 bytes of text/csv"],
  [
    "run_code",
    { code: "x", mount_skills: ["a"], input_blobs: ["blob:1", "blob:2"] },
    "Run Python code with a on 2 blobs (1.2 MB)",
  ],
  ["read_blob", { blob_id: "blob:2" }, "Read 1.2 MB of image/png"],
])("says what %s works on: %j", (tool, input, title) => {
  expect(describeCall(tool, input, blobs).title).toBe(title);
});

const code = "def main():\n    return 1\n";
const fenced = "```python\ndef main():\n    return 1\n```";
const runsCode = { tool: "run_code", input: { language: "python", code } };

test.each<[string, object, boolean, readonly object[] | undefined]>([
  ["a new call", { sessionUpdate: "tool_call", rawInput: runsCode.input }, true, []],
  ["a request for permission", { rawInput: runsCode.input }, false, []],
  ["a request with a sentence", { content: [contentPart("May I?")] }, false, [contentPart("May I?")]],
  ["a request with the input as JSON", { content: [contentPart(JSON.stringify(runsCode.input))] }, false, []],
  [
    "an update with the input as JSON",
    { sessionUpdate: "tool_call_update", content: [contentPart(JSON.stringify(runsCode.input))] },
    false,
    [],
  ],
  [
    "an update that says nothing new",
    { sessionUpdate: "tool_call_update", rawInput: runsCode.input },
    false,
    undefined,
  ],
  [
    "an update of a call that printed",
    { sessionUpdate: "tool_call_update", content: [contentPart("x")] },
    true,
    undefined,
  ],
  [
    "a call that ended",
    { sessionUpdate: "tool_call_update", status: "failed", rawInput: runsCode.input },
    true,
    undefined,
  ],
])("shows the code of run_code as code in %s", (_what, toolCall, isNew, rest) => {
  const amendments = describeForUser({ toolCallId: "c", ...toolCall }, ["params"], { ...runsCode, isNew });
  const content = amendments.filter(({ path }) => path[1] === "content");
  expect(content).toEqual(
    rest === undefined ? [] : [{ path: ["params", "content"], value: [contentPart(fenced), ...rest] }],
  );
});

test("no code ends the block that shows it, and none is left out without a word", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("`", "a", "\n"), minLength: 1 }), (given) => {
      const text = JSON.stringify(codeContent("run_code", { language: "python", code: given }));
      const fence = "`".repeat(Math.max(3, ...(given.match(/`+/g) ?? []).map((run) => run.length + 1)));
      const [part] = codeContent("run_code", { language: "python", code: given }) as { content: { text: string } }[];
      expect(part?.content.text, text).toBe(`${fence}python\n${given.replace(/\n$/, "")}\n${fence}`);
      expect(given).not.toContain(fence);
    }),
  );
  const [long] = codeContent("run_code", { code: "x".repeat(70_000) }) as { content: { text: string } }[];
  expect(long?.content.text).toMatch(/^```\nx+\n```\n… and 4,464 more characters$/);
  const [hidden] = codeContent("run_code", { code: "a = 1 # \u202e\u2066\r\nb\r\tc\u200b" }) as {
    content: { text: string };
  }[];
  expect(hidden?.content.text).toBe("```\na = 1 # \ufffd\ufffd\nb\ufffd\tc\ufffd\n```");
  const none: readonly [string, unknown][] = [
    ["run_code", {}],
    ["run_code", undefined],
    ["run_code", { code: "" }],
    ["execute_skill", { code: "x" }],
  ];
  for (const [tool, input] of none) expect(codeContent(tool, input)).toBeUndefined();
});

test("returns a title of one short line without control characters for any input", () => {
  const value = fc.oneof(fc.string({ unit: "binary" }), fc.jsonValue());
  const input = fc.record({
    name: value,
    path: value,
    script: value,
    args: value,
    blob_id: value,
    mount_skills: value,
  });
  fc.assert(
    fc.property(fc.constantFrom(...servedTools.keys()), input, (tool, given) => {
      const { title } = describeCall(tool, given);
      expect(title.length).toBeGreaterThan(0);
      expect(title.length).toBeLessThanOrEqual(200);
      expect(title).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
    }),
  );
});

const run = {
  status: "completed",
  run_id: "run_0000000001",
  summary: "3 rows.",
  logs_preview: "step 6 of 6\n",
  output: { rows: 3 },
  output_blobs: [],
};
const json = JSON.stringify(run);
const path = ["params", "update"];

test.each<[string, object]>([
  ["the result itself", { rawOutput: run }],
  ["an MCP result", { rawOutput: { content: [textPart(json)], isError: false } }],
  ["structured content", { rawOutput: { content: [textPart("x")], structuredContent: run } }],
  ["a codex result", { rawOutput: { result: { content: [textPart(json)] }, error: null } }],
  ["an opencode result", { rawOutput: { output: json, metadata: {} }, content: [contentPart(json)] }],
  ["content blocks", { rawOutput: [textPart(json)], content: [contentPart(json)] }],
  ["a Copilot result", { rawOutput: { content: json, detailedContent: json, structuredContent: run } }],
  ["JSON as content", { rawOutput: { content: json } }],
  ["fenced content only", { content: [contentPart(`\`\`\`json\n${json}\n\`\`\``)] }],
])("ends a run with what it printed and its summary, from %s", (_form, fields) => {
  const update = { sessionUpdate: "tool_call_update", toolCallId: "c", status: "completed", ...fields };
  const amendments = describeForUser(update, path, { tool: "execute_skill", input: { name: "rows" } });
  expect(amendments).toEqual([{ path: [...path, "content"], value: [contentPart("step 6 of 6\n3 rows.")] }]);
});

test.each<[string, object, string]>([
  ["run", { ...run, status: "failed", error: { type: "ValueError", message: "no\nrows" } }, "ValueError: no rows"],
  ["call", { code: -32000, message: "A secret is missing.", data: {} }, "A secret is missing"],
])("puts the reason of a failed %s into its title", (_what, rawOutput, reason) => {
  const update = { sessionUpdate: "tool_call_update", toolCallId: "c", status: "failed", rawOutput };
  const call = { tool: "execute_skill", input: { name: "rows" } };
  const [title, ended, ...more] = describeForUser(update, path, call);
  expect(title).toEqual({ path: [...path, "title"], value: `Run skill rows failed (${reason})` });
  const completed = describeForUser({ ...update, status: "completed" }, path, call);
  expect(completed).toEqual([title, { path: [...path, "status"], value: "failed" }, ended]);
  expect(ended).toMatchObject({ path: [...path, "content"] });
  expect(more).toEqual([]);
});

test.each<[string, object]>([
  ["a running call", { status: "in_progress", rawOutput: run }],
  ["an output that is no result", { status: "completed", rawOutput: { content: [textPart("{not JSON")] } }],
  [
    "a deeply nested output",
    { status: "completed", rawOutput: Array.from({ length: 20 }).reduce<object>((result) => ({ result }), run) },
  ],
])("leaves the content of %s alone", (_what, fields) => {
  const update = { sessionUpdate: "tool_call_update", toolCallId: "c", ...fields };
  expect(describeForUser(update, path, { tool: "list_skills", input: {} })).toEqual([]);
});

const silent = { ...run, summary: "Completed.", logs_preview: "" };
const manifest = { name: "rows.clean", version: "1.2.0", description: "Cleans.", kind: "action" };
test.each<[string, object, string]>([
  ["execute_skill", silent, 'Completed.\n{"rows":3}'],
  ["execute_skill", { ...silent, output: "done" }, "Completed.\ndone"],
  ["execute_skill", { ...silent, output: null }, "Completed."],
  ["execute_skill", { ...silent, output: "x".repeat(1_000) }, `Completed.\n${"x".repeat(299)}…`],
  ["list_skills", { skills: [], next_cursor: null }, "0 skills"],
  ["list_skills", { skills: [manifest], next_cursor: null }, "1 skill\nrows.clean 1.2.0: Cleans."],
  [
    "list_skills",
    { skills: Array.from({ length: 52 }, () => ({ name: "a", version: "1" })), next_cursor: null },
    `52 skills\n${"a 1\n".repeat(50)}and 2 more`,
  ],
  [
    "describe_skill",
    { skill: { manifest, files: [{}], scripts: ["a.py"] } },
    "rows.clean 1.2.0: Cleans.\naction; 1 file; runs a.py",
  ],
  ["create_blob", { blob_id: "blob:1", size_bytes: 58 }, "Stored 58 bytes as blob:1."],
  ["read_blob", { content: "a,b", encoding: "utf-8", size_bytes: 3, truncated: false, kind: "text/csv" }, "a,b"],
  [
    "read_blob",
    { content: "AA==", encoding: "base64", size_bytes: 1, truncated: false, kind: "x/y" },
    "1 bytes that are no text.",
  ],
  ["read_blob", { saved_as: "out.csv", size_bytes: 58 }, "Wrote 58 bytes to out.csv."],
  ["load_skills_protocol_guide", { content: "# Guide" }, "# Guide"],
])("ends a call of %s with text for a person: %j", (tool, rawOutput, text) => {
  for (const output of [rawOutput, { content: JSON.stringify(rawOutput), structuredContent: rawOutput }]) {
    const update = { sessionUpdate: "tool_call_update", toolCallId: "c", status: "completed", rawOutput: output };
    const amendments = describeForUser(update, path, { tool, input: {} });
    expect(amendments).toEqual([{ path: [...path, "content"], value: [contentPart(text)] }]);
  }
});

const refusal = { code: -32602, message: 'Unknown skill "x".', data: { code: "SKILL_NOT_FOUND" } };
const inside = JSON.stringify(refusal);
const reported = JSON.stringify([
  { functionResponse: { name: "execute_skill", response: { error: { content: [textPart(inside)], isError: true } } } },
]);
test.each<[string, object]>([
  ["Copilot", { rawOutput: { code: "failure", message: `MCP server 'skills': ${inside}` } }],
  [
    "Gemini CLI and qwen-code",
    {
      content: [
        contentPart(
          `MCP tool 'execute_skill' reported tool error for function call: {"name":"execute_skill"} with response: ${reported}`,
        ),
      ],
    },
  ],
])("finds the reason of a refusal in what %s says about it", (_agent, fields) => {
  const update = { sessionUpdate: "tool_call_update", toolCallId: "c", status: "failed", ...fields };
  expect(describeForUser(update, path, { tool: "execute_skill", input: { name: "x" } })).toEqual([
    { path: [...path, "title"], value: 'Run skill x failed (Unknown skill "x")' },
    { path: [...path, "content"], value: [contentPart('Unknown skill "x".')] },
  ]);
});
