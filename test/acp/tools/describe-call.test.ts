import fc from "fast-check";
import { expect, test } from "vitest";
import { describeCall } from "../../../src/acp/tools/describe-call.ts";
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
  ["read_blob", { blob_id: "blob:abc" }, "Read blob:abc", "read"],
  ["read_blob", { blob_id: "blob:abc", save_as: "out.csv" }, "Write blob:abc to out.csv", "edit"],
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
