import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { type ReportOptions, reportToolCall } from "../../../src/acp/messages/report-tool-call.ts";
import { SkillsError } from "../../../src/base/errors.ts";

const options = { name: "read_skill_file", args: { name: "pdf", path: "a/b.md" }, sessionId: "s" };

interface Told {
  readonly method: string;
  readonly params: { readonly sessionId: string; readonly update: Record<string, unknown> };
}

/** Makes a call and returns the updates that the editor got. */
async function report(call: () => Promise<unknown>, more: Partial<ReportOptions> = {}): Promise<Told[]> {
  const told: Told[] = [];
  const send = (method: string, params: unknown): void => void told.push({ method, params } as Told);
  await reportToolCall({ ...options, toolCallId: "c", ...more, send }, call).catch(() => undefined);
  return told;
}

test("reports the start and end of a call with kind, title, locations, raw input and output", async () => {
  const output = { content: "Text.", encoding: "utf-8", size_bytes: 5, truncated: false };
  const told = await report(() => Promise.resolve(output), { locations: ["/skills/pdf/a/b.md"] });
  expect(told).toEqual([
    {
      method: "session/update",
      params: {
        sessionId: "s",
        update: {
          sessionUpdate: "tool_call",
          toolCallId: "c",
          title: "Read skill file pdf/a/b.md",
          name: "read_skill_file",
          kind: "read",
          status: "in_progress",
          rawInput: options.args,
          locations: [{ path: "/skills/pdf/a/b.md" }],
        },
      },
    },
    {
      method: "session/update",
      params: {
        sessionId: "s",
        update: {
          sessionUpdate: "tool_call_update",
          toolCallId: "c",
          status: "completed",
          content: [{ type: "content", content: { type: "text", text: "Text." } }],
          rawOutput: output,
        },
      },
    },
  ]);
});

test("reports a SkillsError in its wire form and rethrows it unchanged", async () => {
  const refusal = new SkillsError("SKILL_NOT_FOUND", "There is no skill pfd.", { facts: { available: ["pdf"] } });
  const told = await report(() => Promise.reject(refusal));
  expect(told[1]?.params.update).toMatchObject({
    status: "failed",
    title: "Read skill file pdf/a/b.md failed (There is no skill pfd)",
    content: [{ content: { text: "There is no skill pfd." } }],
    rawOutput: { code: -32602, data: { code: "SKILL_NOT_FOUND", available: ["pdf"] } },
  });
  const call = reportToolCall({ ...options, send: () => undefined }, () => Promise.reject(refusal));
  await expect(call).rejects.toBe(refusal);
});

test("reports a failed run as failed with its output", async () => {
  const output = { status: "failed", summary: "ValueError: no", logs_preview: "line\n", run_id: "run_0000000001" };
  const told = await report(() => Promise.resolve(output), { name: "run_code" });
  expect(told.at(-1)?.params.update).toMatchObject({
    status: "failed",
    content: [{ content: { text: "line\nValueError: no" } }],
    rawOutput: output,
  });
});

test.each<[string, unknown, string, string]>([
  ["list_skills", undefined, "List skills", "read"],
  ["describe_skill", { name: "pdf" }, "Describe skill pdf", "read"],
  ["read_blob", { blob_id: "blob:1" }, "Read a blob", "read"],
  ["create_blob", { content: "x" }, "Create a blob", "other"],
  ["run_code", { code: "x" }, "Run Python code", "execute"],
  ["constructor", "odd", "constructor", "other"],
])("gives a call of %s with %j the title %j", async (name, args, title, kind) => {
  const [started] = await report(() => Promise.resolve({}), { name, args });
  expect(started?.params.update).toMatchObject({ title, kind });
});

test.each([
  [1, "SessionNotification"],
  [2, "UpdateSessionNotification"],
] as const)("sends valid updates in v%d", async (protocol, shape) => {
  const entry = createRequire(import.meta.url).resolve("@agentclientprotocol/sdk");
  const file = new URL(`../../../schema/v${protocol}/schema.json`, pathToFileURL(entry));
  const { $defs } = JSON.parse(readFileSync(file, "utf8")) as { $defs: object };
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const validate = ajv.compile({ $defs, $ref: `#/$defs/${shape}` });
  const updates = await report(() => Promise.resolve({ skills: [] }), { protocol, locations: ["/a"] });
  const failed = await report(() => Promise.reject(new Error("x")), { protocol });
  for (const { params } of [...updates, ...failed])
    expect(validate(params), JSON.stringify(validate.errors)).toBe(true);
  const kinds = updates.map(({ params }) => params.update["sessionUpdate"]);
  expect(kinds).toEqual([protocol === 2 ? "tool_call_update" : "tool_call", "tool_call_update"]);
});

test.each([
  [
    "throws",
    () => {
      throw new Error("gone");
    },
  ],
  ["rejects", () => Promise.reject(new Error("gone"))],
])("returns the result even if sending to the editor %s", async (_how, send) => {
  const logged: string[] = [];
  const log = (_level: string, message: string): void => void logged.push(message);
  await expect(reportToolCall({ ...options, send, log }, () => Promise.resolve(7))).resolves.toBe(7);
  await new Promise(setImmediate);
  expect(logged).toHaveLength(2);
});
