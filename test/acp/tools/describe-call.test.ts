import fc from "fast-check";
import { expect, test } from "vitest";
import { describeCall, describeToPerson } from "../../../src/acp/tools/describe-call.ts";
import { servedTools } from "../../../src/tools/tool.ts";

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
const textPart = (text: string): object => ({ type: "text", text });
const contentPart = (text: string): object => ({ type: "content", content: textPart(text) });
const path = ["params", "update"];

test.each<[string, object]>([
  ["the result itself", { rawOutput: run }],
  ["an MCP result", { rawOutput: { content: [textPart(json)], isError: false } }],
  ["structured content", { rawOutput: { content: [textPart("x")], structuredContent: run } }],
  ["a codex result", { rawOutput: { result: { content: [textPart(json)] }, error: null } }],
  ["an opencode result", { rawOutput: { output: json, metadata: {} }, content: [contentPart(json)] }],
  ["content blocks", { rawOutput: [textPart(json)], content: [contentPart(json)] }],
  ["fenced content only", { content: [contentPart(`\`\`\`json\n${json}\n\`\`\``)] }],
])("ends a run with what it printed and its summary, from %s", (_form, fields) => {
  const update = { sessionUpdate: "tool_call_update", toolCallId: "c", status: "completed", ...fields };
  const amendments = describeToPerson(update, path, { tool: "execute_skill", input: { name: "rows" } });
  expect(amendments).toEqual([{ path: [...path, "content"], value: [contentPart("step 6 of 6\n3 rows.")] }]);
});

test.each<[string, object, string]>([
  ["run", { ...run, status: "failed", error: { type: "ValueError", message: "no\nrows" } }, "no rows"],
  ["call", { code: -32000, message: "A secret is missing.", data: {} }, "A secret is missing."],
])("puts the reason of a failed %s into its title", (_what, rawOutput, reason) => {
  const update = { sessionUpdate: "tool_call_update", toolCallId: "c", status: "failed", rawOutput };
  const [title, ended, ...more] = describeToPerson(update, path, { tool: "execute_skill", input: { name: "rows" } });
  expect(title).toEqual({ path: [...path, "title"], value: `Run skill rows failed: ${reason}` });
  expect(ended).toMatchObject({ path: [...path, "content"] });
  expect(more).toEqual([]);
});

test.each<[string, object]>([
  ["a running call", { status: "in_progress", rawOutput: run }],
  ["an output that is no result", { status: "completed", rawOutput: { content: [textPart("{not JSON")] } }],
  ["a list of skills", { status: "completed", rawOutput: { skills: [], next_cursor: null } }],
  [
    "a deeply nested output",
    { status: "completed", rawOutput: { result: { result: { result: { result: { result: { result: run } } } } } } },
  ],
])("leaves the content of %s alone", (_what, fields) => {
  const update = { sessionUpdate: "tool_call_update", toolCallId: "c", ...fields };
  expect(describeToPerson(update, path, { tool: "list_skills", input: {} })).toEqual([]);
});
