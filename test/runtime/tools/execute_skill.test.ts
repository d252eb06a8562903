import { expect, test } from "vitest";
import { onPrinted } from "../../on-printed.ts";
import { SkillsError } from "../../../src/base/errors.ts";
import type { LedgerEntry } from "../../../src/runtime/ledger.ts";
import { defaultRunLimits } from "../../../src/runtime/runs/run-limits.ts";
import { runSpec } from "../../../src/runtime/runs/run-spec.ts";
import type { SandboxRun } from "../../../src/runtime/sandbox.ts";
import { agentSkill, refusal } from "./open-tools.ts";
import { actionSkill, openRunner } from "../runs/open-runner.ts";

const returned = (value: never) => ({ type: "returned", value }) as const;
const inputs = `[inputs.sheet]
type = "blob"
required = true
[inputs.env]
type = "string"
enum = ["dev", "prod"]
default = "dev"
[inputs.count]
type = "integer"
[limits]
timeout_ms = 5000
memory_mb = 64`;

/** Executes a skill and returns the run that the sandbox received. */
async function runOf(
  skills: Record<string, string>,
  args: object,
  options = {},
): Promise<{ run: SandboxRun; result: never }> {
  let seen: SandboxRun | undefined;
  const { call } = await openRunner(
    skills,
    ({ run }) => {
      seen = run;
      return { type: "returned", value: { done: true } };
    },
    options,
  );
  const result = (await call("execute_skill", args)) as never;
  return { run: seen as SandboxRun, result };
}

test("any number of arguments is accepted, and nesting that is too deep is reported as such", async () => {
  const many = new Array<number>(200_000).fill(1);
  const { run } = await runOf(actionSkill("sales.leads"), { name: "sales-leads", args: { many } });
  expect((run.program as unknown as { args: { many: unknown[] } }).args.many).toHaveLength(200_000);
  let deep: unknown[] = [];
  for (let level = 0; level < 100_000; level++) deep = [deep];
  await expect(runOf(actionSkill("sales.leads"), { name: "sales-leads", args: { deep } })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    facts: { violations: [{ field: "/args", expected: "JSON at most 200 levels deep" }] },
  });
});

test("an action runs with its arguments, and the result is complete", async () => {
  const { run, result } = await runOf(actionSkill("sales.leads"), { name: "sales-leads", args: { a: [1, "é"] } });
  expect(run).toMatchObject({
    runId: "run_0000000001",
    program: { type: "skill", skill: "sales.leads", args: { a: [1, "é"] } },
    brokered: [],
    blobs: [],
    secrets: {},
    network: [],
    limits: { timeoutMs: 30_000 },
  });
  expect(run.skills.map(({ name, entry, files }) => [name, entry, files.map(({ path }) => path)])).toEqual([
    ["sales.leads", { file: "code/main.py", export: "main" }, ["SKILL.md", "code/main.py", "skill.toml"]],
  ]);
  expect(result).toEqual({
    status: "completed",
    run_id: "run_0000000001",
    summary: "Completed.",
    output: { done: true },
    output_blobs: [],
    logs_preview: "",
    version: "1.2.0",
    duration_ms: 0,
    limits_applied: { timeout_ms: 30_000, memory_mb: 512, isolation: "memory" },
  });
});

test("arguments are validated against the manifest's inputs before anything starts", async () => {
  const { call } = await openRunner(actionSkill("a.b", inputs), () => {
    throw new Error("not to be run");
  });
  const { blob_id } = (await call("create_blob", { content: "x", kind: "text/csv" })) as { blob_id: string };
  const fault = async (args: object) => await refusal(call("execute_skill", { name: "a.b", args }));
  expect(await fault({})).toMatchObject({
    code: "VALIDATION_ERROR",
    violations: [{ field: "/args/sheet", expected: "a blob id, as create_blob returns it", actual: null }],
  });
  expect(await fault({ sheet: blob_id, evn: "dev" })).toMatchObject({
    violations: [{ field: "/args/evn" }],
    hint: "Did you mean env?",
    available: ["env", "sheet", "count"],
  });
  expect(await fault({ sheet: "x", env: "test", count: 1.5 })).toMatchObject({
    violations: [
      { field: "/args/sheet", actual: "x" },
      { field: "/args/env", expected: 'one of "dev", "prod"', actual: "test" },
      { field: "/args/count", expected: "a whole number", actual: 1.5 },
    ],
  });
  expect(await fault({ sheet: "blob:none" })).toMatchObject({ code: "BLOB_NOT_FOUND" });
});

test("invalid script arguments are reported as they were given", async () => {
  const { call } = await openRunner({ ...agentSkill("pdf"), "/skills/pdf/scripts/run.py": "print()\n" }, () => {
    throw new Error("not to be run");
  });
  const fault = async (args: object) =>
    await refusal(call("execute_skill", { name: "pdf", script: "scripts/run.py", args }));
  expect(await fault({ arg: ["-x"], "a/b": 1 })).toMatchObject({
    code: "VALIDATION_ERROR",
    violations: [
      { field: "/args/arg", actual: "an array" },
      { field: "/args/a~1b", actual: 1 },
    ],
    hint: "Did you mean argv?",
    available: ["argv", "stdin"],
  });
  expect(await fault({ argv: "-x", stdin: 3 })).toMatchObject({
    violations: [
      { field: "/args/argv", expected: "an array", actual: "-x" },
      { field: "/args/stdin", expected: "a string", actual: 3 },
    ],
  });
  expect(await fault({ argv: ["-x", 3] })).toMatchObject({
    violations: [{ field: "/args/argv/1", expected: "a string without NUL", actual: 3 }],
  });
  expect(await fault({ argv: Array(257).fill("x") })).toMatchObject({
    violations: [{ field: "/args/argv", expected: "at most 256 strings", actual: 257 }],
  });
});

test("mounts the blobs that are listed, that an argument of type blob names, and that any other string names", async () => {
  let seen: SandboxRun | undefined;
  const { call } = await openRunner(actionSkill("a.b", inputs), ({ run }) => {
    seen = run;
    return { type: "returned", value: null };
  });
  const put = async (owner?: string) =>
    (
      (await call("create_blob", { content: "x", kind: "a/b" }, owner === undefined ? {} : { owner })) as {
        blob_id: string;
      }
    ).blob_id;
  const [sheet, listed, deep] = [await put(), await put(), await put()];
  await call("execute_skill", { name: "a.b", args: { sheet, env: "prod" }, input_blobs: [listed, listed] });
  expect(seen?.blobs.map(({ id }) => id)).toEqual([listed, sheet]);
  expect(seen?.program).toMatchObject({ args: { sheet, env: "prod" } });
  const other = await put("someone else");
  await call("run_code", { language: "python", code: "", args: { rows: [{ deep }], other, text: "blob:absent" } });
  expect(seen?.blobs.map(({ id }) => id)).toEqual([deep]);
  expect(await refusal(call("execute_skill", { name: "a.b", args: { sheet: other } }))).toMatchObject({
    code: "BLOB_NOT_FOUND",
  });
  for (const id of [other, "../../etc/passwd", "blob:../x", ""]) {
    expect(await refusal(call("run_code", { language: "python", code: "", input_blobs: [id] }))).toMatchObject({
      code: "BLOB_NOT_FOUND",
    });
  }
});

test("an instruction is not executable", async () => {
  const { call } = await openRunner(agentSkill("pdf"), () => returned(null as never));
  expect(await refusal(call("execute_skill", { name: "pdf" }))).toMatchObject({
    code: "NOT_EXECUTABLE",
    hint: expect.stringContaining("describe_skill") as string,
  });
  expect(await refusal(call("execute_skill", { name: "pfd" }))).toMatchObject({
    code: "SKILL_NOT_FOUND",
    available: ["pdf", "skills.protocol.guide"],
  });
});

test("the timeout is clamped, which is reported, and lowered by the skill's own limits", async () => {
  const plain = await runOf(actionSkill("a.b"), { name: "a.b", timeout_ms: 700_000 });
  expect(plain.run.limits.timeoutMs).toBe(600_000);
  expect(plain.result).toMatchObject({ limits_applied: { timeout_ms: 600_000, clamped: true } });
  const limited = "[limits]\ntimeout_ms = 5000\nmemory_mb = 64";
  const lowered = await runOf(actionSkill("a.b", limited), { name: "a.b", timeout_ms: 6000 });
  expect(lowered.result).toMatchObject({ limits_applied: { timeout_ms: 5000, memory_mb: 64, clamped: true } });
  const asked = await runOf(actionSkill("a.b", limited), { name: "a.b", timeout_ms: 100 });
  expect(asked.result).toMatchObject({ limits_applied: { timeout_ms: 100 } });
  expect(asked.result).not.toMatchObject({ limits_applied: { clamped: true } });
  const { call } = await openRunner(actionSkill("a.b"), () => returned(null as never));
  for (const timeout_ms of [0, -1, 1.5, "1"]) {
    expect(await refusal(call("execute_skill", { name: "a.b", timeout_ms }))).toMatchObject({
      code: "VALIDATION_ERROR",
      violations: [{ field: "/timeout_ms" }],
    });
  }
});

const permissions = `[permissions]
network = ["https://*.example.org"]
secrets = ["KEY_A"]
project = "write"`;

test("a missing grant is refused, with the command that approves exactly this version", async () => {
  const refused = await openRunner(actionSkill("a.b", permissions), () => returned(null as never), {
    grants: ["a.b:network", "other:secrets,project-write"],
  });
  expect(await refusal(refused.call("execute_skill", { name: "a.b" }))).toEqual({
    code: "PERMISSION_DENIED",
    message:
      "The skill a.b needs approval to change the project's files, read the value of KEY_A and connect to *.example.org. There is nobody to ask here.",
    hint: expect.stringMatching(
      /^The user can approve exactly this version with: acp-skills approvals grant a\.b@sha256:[0-9a-f]{64}$/,
    ) as string,
  });
});

test("granted permissions reach the run: network, secrets and the session's project", async () => {
  let seen: SandboxRun | undefined;
  const { call } = await openRunner(
    actionSkill("a.b", permissions),
    ({ run }) => {
      seen = run;
      return { type: "returned", value: null };
    },
    {
      grants: ["a-b:network,secrets,project-write"],
      readSecret: (name: string, skill: string) => Promise.resolve(`${skill}/${name}/value`),
    },
  );
  expect(await refusal(call("execute_skill", { name: "a.b" }))).toMatchObject({ code: "PERMISSION_DENIED" });
  await call("execute_skill", { name: "a.b" }, { project: "/home/me/project" });
  expect(seen).toMatchObject({
    network: ["https://*.example.org"],
    secrets: { KEY_A: "a.b/KEY_A/value" },
    project: { directory: "/home/me/project", writable: true },
  });
});

test("a directory that cannot be a project is refused before anything runs", async () => {
  const { call } = await openRunner(
    actionSkill("a.b", '[permissions]\nproject = "read"'),
    () => returned(null as never),
    {
      grants: ["a.b:project-read"],
      refuseProject: (directory: string) => `${directory} cannot be a project.`,
    },
  );
  expect(await refusal(call("execute_skill", { name: "a.b" }, { project: "/home/me" }))).toMatchObject({
    code: "PERMISSION_DENIED",
    message: "/home/me cannot be a project.",
    hint: expect.stringContaining("subdirectory") as string,
  });
});

test("a secret is masked before a summary is truncated, and in the name of a file that could not be stored", async () => {
  const secret = "s3cr3t-value-1234";
  const { call } = await openRunner(
    actionSkill("a.b", '[permissions]\nsecrets = ["KEY"]'),
    ({ run, leave }) => {
      const fails = run.program.type === "skill" && JSON.stringify(run.program.args) === '{"fail":true}';
      if (fails) leave(`${run.secrets["KEY"]}.bin`, new Uint8Array(1024 * 1024 * 11));
      return { type: "returned", value: 1, summary: `${"x".repeat(990)}${run.secrets["KEY"]}` };
    },
    { grants: ["a.b:secrets"], readSecret: () => Promise.resolve(secret) },
  );
  const cut = JSON.stringify(await call("execute_skill", { name: "a.b" }));
  expect(cut).not.toContain(secret.slice(0, 6));
  const refused = JSON.stringify(await call("execute_skill", { name: "a.b", args: { fail: true } }));
  expect(refused).toContain("OutputLimitError");
  expect(refused).not.toContain(secret);
});

test("a missing secret is reported by name", async () => {
  const { call } = await openRunner(
    actionSkill("a.b", '[permissions]\nsecrets = ["KEY_A", "KEY_B"]'),
    () => returned(null as never),
    {
      grants: ["a.b:secrets"],
      readSecret: (name: string) => Promise.resolve(name === "KEY_A" ? "value of a" : undefined),
    },
  );
  expect(await refusal(call("execute_skill", { name: "a.b" }))).toMatchObject({
    code: "SECRET_MISSING",
    message: "The skill a.b needs KEY_B, which is not configured.",
  });
});

test("a caller gets the secrets that are listed for it; others are as absent", async () => {
  const { call } = await openRunner(
    actionSkill("a.b", '[permissions]\nsecrets = ["KEY"]'),
    ({ run }) => ({ type: "returned", value: Object.keys(run.secrets) }),
    { grants: ["a.b:secrets"], readSecret: () => Promise.resolve("the value of it") },
  );
  expect(await call("execute_skill", { name: "a.b" }, { secrets: ["KEY"] })).toMatchObject({ output: ["KEY"] });
  expect(await refusal(call("execute_skill", { name: "a.b" }, { secrets: ["OTHER"] }))).toMatchObject({
    code: "SECRET_MISSING",
    message: "The skill a.b needs KEY, which is not configured.",
  });
});

test("the value of a secret appears nowhere in what leaves the run", async () => {
  const secret = "s3cr3t-value-1234";
  const { call, store } = await openRunner(
    actionSkill("a.b", '[permissions]\nsecrets = ["KEY"]'),
    async ({ run, print, createBlob, leave }) => {
      const value = run.secrets["KEY"] ?? "";
      print(`the key is ${value.slice(0, 5)}`);
      print(`${value.slice(5)} and so on\n`);
      await createBlob(`text/plain;name=${value}`, `blob ${value}`);
      leave("file.txt", `file ${value}`);
      if (run.program.type === "skill" && JSON.stringify(run.program.args) === '{"fail":true}') {
        return { type: "raised", error: { type: `E${value}`, message: `m ${value}`, details: { [value]: [value] } } };
      }
      return { type: "returned", value: { a: value, [value]: [`x${value}x`] }, summary: `sum ${value}` };
    },
    { grants: ["a.b:secrets"], readSecret: () => Promise.resolve(secret) },
  );
  for (const args of [{}, { fail: true }]) {
    const result = (await call("execute_skill", { name: "a.b", args })) as {
      output_blobs: string[];
      logs_preview: string;
    };
    expect(JSON.stringify(result)).not.toContain(secret);
    expect(result.logs_preview).toContain("the key is ***");
    expect(result.output_blobs).toHaveLength(2);
    for (const id of result.output_blobs) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of store.read("me", id)) chunks.push(chunk);
      expect(Buffer.concat(chunks).toString()).toMatch(/^(blob|file) \*\*\*$/);
      expect((await store.stat("me", id)).kind).toMatch(/^text\/plain(;name=\*\*\*)?$/);
    }
  }
});

test("a secret interrupted by colour codes is masked like any other", async () => {
  const secret = "hunter2hunter2";
  const shown: string[] = [];
  const coloured = `hunter2\u001b[31mhunter2\u001b[0m`;
  const { call } = await openRunner(
    { ...actionSkill("a.b", '[permissions]\nsecrets = ["KEY"]', { "scripts/x.py": "" }) },
    ({ run, print }) => {
      print(`out ${coloured}\n`);
      print(`err ${coloured}\n`, "stderr");
      const { program } = run;
      if (program.type === "script") return { type: "exited", exitCode: program.argv.length };
      const fails = program.type === "skill" && JSON.stringify(program.args) === '{"fail":true}';
      if (fails) return { type: "raised", error: { type: `E${coloured}`, message: `m ${coloured}` } };
      return { type: "returned", value: 1, summary: `sum ${coloured}` };
    },
    { grants: ["a.b:secrets"], readSecret: () => Promise.resolve(secret) },
  );
  const onEvent = onPrinted((text) => void shown.push(text));
  for (const more of [
    { args: {} },
    { args: { fail: true } },
    { script: "scripts/x.py", args: { argv: [] } },
    { script: "scripts/x.py", args: { argv: ["1"] } },
  ]) {
    const result = await call("execute_skill", { name: "a.b", ...more }, { onEvent });
    expect(JSON.stringify(result)).toContain("***");
    expect(JSON.stringify(result)).not.toContain(secret);
  }
  expect(shown.join("")).toContain("***");
  expect(shown.join("")).not.toContain(secret);
});

test("a secret passed to another skill is masked in that skill's output, and whole in its return value", async () => {
  const secret = "s3cr3t-value-1234";
  const shown: string[] = [];
  const { call, store } = await openRunner(
    { ...actionSkill("a", '[permissions]\nsecrets = ["KEY"]\n[dependencies]\nskills = ["b"]'), ...actionSkill("b") },
    async ({ run, print, createBlob, leave, callSkill }) => {
      if (run.program.type === "script" || run.program.type === "code") throw new Error("Only skills run.");
      const { args } = run.program;
      if (run.program.skill === "b") {
        print(`got ${JSON.stringify(args)}\n`);
        leave(`${secret}.txt`, JSON.stringify(args));
        await createBlob("text/plain", JSON.stringify(args));
        return { type: "returned", value: args };
      }
      const answered = (await callSkill("b", { key: run.secrets["KEY"] ?? "" })) as { key: string };
      return { type: "returned", value: answered.key === run.secrets["KEY"] };
    },
    { grants: ["a:secrets"], readSecret: () => Promise.resolve(secret) },
  );
  const onEvent = onPrinted((text) => void shown.push(text));
  const result = (await call("execute_skill", { name: "a" }, { onEvent })) as {
    output: unknown;
    output_blobs: string[];
  };
  expect(result.output).toBe(true);
  expect(shown.join("")).toBe('got {"key":"***"}\n');
  expect(result.output_blobs).toHaveLength(2);
  for (const id of result.output_blobs) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of store.read("me", id)) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe('{"key":"***"}');
  }
});

test("code cannot guess the secret of a skill that it calls by what is masked of its beginnings", async () => {
  const guess = { known: "s3cr3t-value-1234", beginning: "s3cr3t…" };
  const { call } = await openRunner(
    { ...actionSkill("a", '[dependencies]\nskills = ["b"]'), ...actionSkill("b", '[permissions]\nsecrets = ["KEY"]') },
    async ({ run, callSkill }) => {
      if (run.program.type !== "skill") throw new Error("Only skills run.");
      if (run.program.skill === "b") return { type: "returned", value: run.program.args };
      return { type: "returned", value: await callSkill("b", guess) };
    },
    { grants: ["b:secrets"], readSecret: () => Promise.resolve("s3cr3t-value-1234") },
  );
  expect(await call("execute_skill", { name: "a" })).toMatchObject({
    output: { known: "***", beginning: guess.beginning },
  });
});

test("missing packages are reported with the command that installs them", async () => {
  const files = { "code/requirements.txt": "left-pad==1.0\n" };
  const { call } = await openRunner(actionSkill("a.b", "", files), () => returned(null as never));
  expect(await refusal(call("execute_skill", { name: "a.b" }))).toMatchObject({
    code: "SKILL_NOT_READY",
    hint: "The user can install them with: acp-skills install a.b",
    retryable: false,
  });
  const { run } = await runOf(
    actionSkill("a.b", "", files),
    { name: "a.b" },
    {
      findPackages: (_skill: unknown, bytes: Uint8Array) =>
        Promise.resolve({ directory: `/cache/${Buffer.from(bytes).toString().trim()}`, digest: "sha256:12" }),
    },
  );
  expect(run.packages).toBe("/cache/left-pad==1.0");
});

test("is refused without a sandbox, or if the sandbox refuses the run", async () => {
  const unavailable = new SkillsError("SANDBOX_UNAVAILABLE", "No tier works here.");
  const none = await openRunner(actionSkill("a.b"), () => returned(null as never), { unavailable });
  expect(await refusal(none.call("execute_skill", { name: "a.b" }))).toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
  const refusing = await openRunner(actionSkill("a.b"), () => returned(null as never), { refuses: () => "Not here." });
  expect(await refusal(refusing.call("execute_skill", { name: "a.b" }))).toMatchObject({
    code: "SANDBOX_UNAVAILABLE",
    message: "Not here.",
  });
});

test("a large output is stored as a blob with a preview", async () => {
  const rows = Array.from({ length: 2000 }, (_, row) => ({ row }));
  const { call } = await openRunner(actionSkill("a.b"), () => ({ type: "returned", value: { rows } }));
  const result = (await call("execute_skill", { name: "a.b" })) as {
    output: { blob_id: string; size_bytes: number; preview: string };
    output_blobs: string[];
  };
  expect(result.output_blobs).toEqual([result.output.blob_id]);
  const text = JSON.stringify({ rows });
  expect(result).toMatchObject({ status: "completed", output: { truncated: true, size_bytes: text.length } });
  expect(result.output.preview.startsWith('{"rows":[{"row":0}')).toBe(true);
  expect(await call("read_blob", { blob_id: result.output.blob_id, mode: "full" })).toMatchObject({
    content: text,
    kind: "application/json",
  });
  const exact = "x".repeat(4096 - 2);
  const small = await openRunner(actionSkill("a.b"), () => ({ type: "returned", value: exact }));
  expect(await small.call("execute_skill", { name: "a.b" })).toMatchObject({ output: exact });
  const more = await openRunner(actionSkill("a.b"), () => ({ type: "returned", value: `${exact}x` }));
  expect(await more.call("execute_skill", { name: "a.b" })).toMatchObject({
    output: { truncated: true, size_bytes: 4097 },
  });
});

test("a long log is previewed by its head and tail, and stored whole as a blob", async () => {
  const { call } = await openRunner(actionSkill("a.b"), ({ print }) => {
    for (let line = 0; line < 1000; line++) print(`\u001b[1mline ${line}\u001b[0m\n`);
    return { type: "returned", value: null };
  });
  const result = (await call("execute_skill", { name: "a.b" })) as { logs_preview: string; logs_blob: string };
  expect(Buffer.byteLength(result.logs_preview)).toBeLessThanOrEqual(2048);
  expect(result.logs_preview.startsWith("line 0\nline 1\n")).toBe(true);
  expect(result.logs_preview.endsWith("line 998\nline 999\n")).toBe(true);
  const whole = Array.from({ length: 1000 }, (_, line) => `line ${line}\n`).join("");
  expect(await call("read_blob", { blob_id: result.logs_blob, mode: "full" })).toMatchObject({ content: whole });
});

test("printed text is streamed while the run goes on", async () => {
  const told: string[] = [];
  const { call } = await openRunner(actionSkill("a.b"), ({ print }) => {
    print("half é".slice(0, 5));
    print(Buffer.from("é").subarray(0, 1));
    print(Buffer.from("é").subarray(1));
    print("\u001b[31m done\n", "stderr");
    return { type: "returned", value: null };
  });
  await call("execute_skill", { name: "a.b" }, { onEvent: onPrinted((text) => void told.push(text)) });
  expect(told.join("")).toBe("half é done\n");
});

test.each([
  [
    { type: "limit", limit: "timeout" },
    { type: "TimeoutError", code: "EXECUTION_TIMEOUT", details: { limit_ms: 30_000, started: true } },
  ],
  [
    { type: "limit", limit: "memory" },
    { type: "MemoryLimitError", details: { limit_mb: 512 } },
  ],
  [{ type: "limit", limit: "processes" }, { type: "ProcessLimitError" }],
  [{ type: "limit", limit: "disk" }, { type: "DiskLimitError" }],
  [{ type: "limit", limit: "output" }, { type: "OutputLimitError" }],
  [
    { type: "crashed", detail: "signal 11" },
    { type: "SandboxCrashError", message: "signal 11" },
  ],
  [
    { type: "raised", error: { type: "ValueError", message: "bad\u001b[31m row", details: { row: 3 } } },
    { type: "ValueError", message: "bad row", details: { row: 3 } },
  ],
  [{ type: "raised", error: { type: "MemoryError", message: "" } }, { type: "MemoryLimitError" }],
  [
    { type: "raised", error: { type: "OSError", message: "[Errno 28] No space left on device" } },
    { type: "DiskLimitError" },
  ],
] as const)("a run that ended as %j is failed and keeps its blobs, files and output", async (end, error) => {
  const { call } = await openRunner(actionSkill("a.b"), async ({ print, createBlob, leave }) => {
    print("before\n");
    await createBlob("text/plain", "one");
    leave("report.csv", "a,b\n");
    return end;
  });
  const result = (await call("execute_skill", { name: "a.b" })) as { output_blobs: string[]; summary: string };
  expect(result).toMatchObject({ status: "failed", error, logs_preview: "before\n" });
  expect(result).not.toHaveProperty("output");
  expect(result.output_blobs).toHaveLength(2);
  expect(result.summary.startsWith(error.type)).toBe(true);
  expect(await call("read_blob", { blob_id: result.output_blobs[1] })).toMatchObject({
    kind: "text/csv",
    content: "a,b\n",
  });
});

test("a run times out", async () => {
  const { call, clock } = await openRunner(actionSkill("a.b"), ({ forever }) => forever());
  const running = call("execute_skill", { name: "a.b", timeout_ms: 1000 });
  while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve));
  clock.pass(1000);
  expect(await running).toMatchObject({ status: "failed", error: { type: "TimeoutError" }, duration_ms: 1000 });
});

test("aborting the signal cancels the run", async () => {
  let over: AbortSignal | undefined;
  const { toolbox, context, clock } = await openRunner(actionSkill("a.b"), (stage) => {
    over = stage.over;
    return stage.forever();
  });
  const controller = new AbortController();
  const running = toolbox.call("execute_skill", { name: "a.b" }, context, controller.signal);
  while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve));
  controller.abort(new Error("no longer wanted"));
  await expect(running).rejects.toThrow("no longer wanted");
  expect(over?.aborted).toBe(true);
});

test("the ledger has the run id of a run that was cancelled or refused", async () => {
  const uses: LedgerEntry[] = [];
  const { toolbox, context, clock } = await openRunner(
    { ...actionSkill("a.b"), ...actionSkill("c.d", permissions) },
    ({ forever }) => forever(),
    { onUse: (use) => void uses.push(use) },
  );
  const controller = new AbortController();
  const running = toolbox.call("execute_skill", { name: "a.b" }, context, controller.signal);
  while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve));
  controller.abort(new Error("no longer wanted"));
  await expect(running).rejects.toThrow("no longer wanted");
  await refusal(toolbox.call("execute_skill", { name: "c.d" }, context));
  expect(uses).toMatchObject([
    { skill: "a.b", code: "CANCELLED", runId: "run_0000000001" },
    { skill: "c.d", code: "PERMISSION_DENIED", runId: "run_0000000002" },
  ]);
});

test("the ledger has the digest of the skill whose code ran", async () => {
  const uses: LedgerEntry[] = [];
  const { call } = await openRunner(actionSkill("a.b"), () => returned(null as never), {
    onUse: (use) => void uses.push(use),
  });
  await call("execute_skill", { name: "a.b" });
  const described = (await call("describe_skill", { name: "a.b", detail: "full" })) as { skill: { digest: string } };
  const { digest } = described.skill;
  expect(digest).toMatch(/^sha256:/);
  expect(uses[0]).toMatchObject({ tool: "execute_skill", skill: "a.b", outcome: "completed", digest });
});

test("a caller that was shown a digest runs exactly those bytes, also if a file changes meanwhile", async () => {
  let ran = 0;
  const { call, files } = await openRunner(actionSkill("a.b"), () => {
    ran += 1;
    return returned(null as never);
  });
  const described = (await call("describe_skill", { name: "a.b", detail: "full" })) as { skill: { digest: string } };
  const { digest } = described.skill;
  await call("execute_skill", { name: "a.b" }, { digest });
  files.write("/skills/a.b/code/main.py", "def main(args): return 'something else'\n");
  expect(await refusal(call("execute_skill", { name: "a.b" }, { digest }))).toMatchObject({
    code: "SKILL_NOT_READY",
    retryable: true,
  });
  expect(ran).toBe(1);
});

test("check returns the spec of a run and its authorization, without running it", async () => {
  const { toolbox, context } = await openRunner(
    { ...actionSkill("a.b", permissions), ...actionSkill("c") },
    () => {
      throw new Error("not to be run");
    },
    { grants: ["a.b:network,secrets,project-write"], readSecret: () => Promise.resolve("value") },
  );
  const told = await toolbox.check("execute_skill", { name: "a.b", args: { x: 1 } }, { ...context, project: "/p" });
  const version = {
    name: "a.b",
    slug: "a-b",
    version: "1.2.0",
    digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
  };
  expect(told).toEqual({
    authorization: { allowed: true, by: "--grant a.b:network,secrets,project-write" },
    isolation: "memory",
    spec: {
      runId: "run_0000000001",
      program: { type: "skill", skill: "a.b", args: { x: 1 } },
      skill: version,
      mounts: [version],
      brokered: [],
      blobs: [],
      limits: { ...defaultRunLimits },
      clamped: false,
      needs: { network: ["https://*.example.org"], secrets: ["KEY_A"], project: "write" },
      owner: "me",
      session: "s1",
      door: "in-process",
    },
  });
  const { spec } = JSON.parse(JSON.stringify(told)) as { spec: unknown };
  expect(runSpec.parse(spec)).toEqual(spec);
  expect(JSON.stringify(told)).not.toContain("value");
  expect(await refusal(toolbox.check("execute_skill", { name: "a.b" }, context))).toMatchObject({
    code: "PERMISSION_DENIED",
  });
});
