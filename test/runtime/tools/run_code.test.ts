import { expect, test, vi } from "vitest";
import type { BlobStore } from "../../../src/runtime/blobs.ts";
import { memoryBlobs } from "../blobs/memory-blobs.ts";
import { SkillsError } from "../../../src/base/errors.ts";
import type { Json, SandboxRun } from "../../../src/runtime/sandbox.ts";
import { agentSkill, refusal } from "./open-tools.ts";
import { actionSkill, openRunner } from "../runs/open-runner.ts";

const python = { language: "python", code: "def main(args): return args" };

test("code runs with its arguments, the skills it mounts, and no permissions", async () => {
  let seen: SandboxRun | undefined;
  const { call } = await openRunner({ ...actionSkill("a.b"), ...agentSkill("pdf") }, ({ run, print }) => {
    seen = run;
    print("hello\n");
    return { type: "returned", value: { sum: 3 }, summary: "Added.", outputBlobs: ["blob:not-mine"] };
  });
  const args = { a: 1 };
  const result = await call("run_code", {
    ...python,
    args,
    mount_skills: ["a-b", "pdf", "a.b"],
    limits: { timeout_ms: 900 },
  });
  expect(result).toMatchObject({
    status: "completed",
    summary: "Added.",
    output: { sum: 3 },
    output_blobs: [],
    logs_preview: "hello\n",
    limits_applied: { timeout_ms: 900 },
  });
  expect(result).not.toHaveProperty("version");
  expect(seen).toMatchObject({
    program: { type: "code", code: python.code, entrypoint: "main", args },
    secrets: {},
    network: [],
    brokered: [],
  });
  expect(seen?.skills.map(({ name }) => name)).toEqual(["a.b", "pdf"]);
  expect(seen).not.toHaveProperty("project");
});

test.each([
  [
    { language: "ruby", code: "" },
    { code: "UNSUPPORTED_LANGUAGE", available: ["python"] },
  ],
  [{ code: "" }, { code: "VALIDATION_ERROR", violations: [{ field: "/language" }] }],
  [{ language: "python" }, { code: "VALIDATION_ERROR", violations: [{ field: "/code" }] }],
  [
    { ...python, entrypoint: "os.system" },
    { code: "VALIDATION_ERROR", violations: [{ field: "/entrypoint" }] },
  ],
  [
    { ...python, entrypoint: "" },
    { code: "VALIDATION_ERROR", violations: [{ field: "/entrypoint" }] },
  ],
  [
    { ...python, args: [1] },
    { code: "VALIDATION_ERROR", violations: [{ field: "/args" }] },
  ],
  [{ ...python, limits: { memory: 1 } }, { code: "VALIDATION_ERROR" }],
  [
    { ...python, limits: { timeout_ms: 0 } },
    { code: "VALIDATION_ERROR", violations: [{ field: "/limits/timeout_ms" }] },
  ],
  [
    { ...python, mount_skills: ["a.c"] },
    { code: "SKILL_NOT_FOUND", available: ["a.b", "skills.protocol.guide"] },
  ],
  [
    { ...python, code: "x".repeat(1024 * 1024 + 1) },
    { code: "VALIDATION_ERROR", violations: [{ field: "/code" }] },
  ],
  [
    { ...python, args: nested(201) },
    { code: "VALIDATION_ERROR", violations: [{ field: "/args" }] },
  ],
])("rejects %.200j before anything is started", async (input, refused) => {
  const { call } = await openRunner(actionSkill("a.b"), () => {
    throw new Error("not to be run");
  });
  expect(await refusal(call("run_code", input))).toMatchObject(refused);
});

function nested(depth: number): Record<string, unknown> {
  let value: unknown = 1;
  for (let level = 1; level < depth; level++) value = [value];
  return { value };
}

test("accepts arguments of the maximum depth", async () => {
  const { call } = await openRunner({}, () => ({ type: "returned", value: null }));
  expect(await call("run_code", { ...python, args: nested(200) })).toMatchObject({ status: "completed" });
});

const secret = '[permissions]\nsecrets = ["KEY"]';

test("a skill with permissions is called through a stub: it runs in its own sandbox with its grants", async () => {
  const runs: SandboxRun[] = [];
  const uses: string[] = [];
  const { call, logged } = await openRunner(
    { ...actionSkill("keeper", secret), ...actionSkill("plain") },
    async ({ run, callSkill, createBlob }) => {
      runs.push(run);
      if (run.program.type === "skill") {
        await createBlob("text/plain", "made inside");
        return { type: "returned", value: { echoed: run.program.args, key: run.secrets["KEY"] === "value" } };
      }
      return { type: "returned", value: await callSkill("keeper", { a: 1 }) };
    },
    { grants: ["keeper:secrets"], readSecret: () => Promise.resolve("value") },
  );
  const result = await call("run_code", { ...python, mount_skills: ["keeper", "plain"] });
  expect(result).toMatchObject({ status: "completed", output: { echoed: { a: 1 }, key: true } });
  expect((result as { output_blobs: string[] }).output_blobs).toHaveLength(1);
  const [outer, inner] = runs;
  expect(outer).toMatchObject({ brokered: ["keeper"], secrets: {} });
  expect(outer?.skills.map(({ name }) => name)).toEqual(["plain"]);
  expect(inner).toMatchObject({ secrets: { KEY: "value" }, brokered: [] });
  expect({ uses, logged }).toEqual({ uses: [], logged: [] });
});

/** Runs code that calls skills, and returns the result. */
async function calling(
  options: { readonly skills: Record<string, string>; readonly mount: string[]; readonly grants?: string[] },
  work: (callSkill: (name: string, args: Json) => Promise<Json>) => Promise<Json>,
  inner: (run: SandboxRun, callSkill: (name: string, args: Json) => Promise<Json>) => Json | Promise<Json> = () => null,
) {
  const { call } = await openRunner(
    options.skills,
    async ({ run, callSkill }) => {
      if (run.program.type === "code") return { type: "returned", value: await work(callSkill) };
      const value = await inner(run, callSkill);
      if (value === "raise") return { type: "raised", error: { type: "KeyError", message: "'x'" } };
      return { type: "returned", value };
    },
    { grants: options.grants ?? [], readSecret: () => Promise.resolve("value") },
  );
  return await call("run_code", { ...python, mount_skills: options.mount });
}

const caught = (error: unknown) => {
  const { type, message, runId } = error as { type: string; message: string; runId?: string };
  return { type, message, run: runId !== undefined };
};

test.each([
  ["was not granted", "keeper", [], "PERMISSION_DENIED", false],
  ["fails", "keeper", ["keeper:secrets"], "KeyError", true],
  ["is not mounted", "other", [], "SkillNotFoundError", false],
])("a skill that %s is an error that the code can catch", async (_why, name, grants, type, run) => {
  const result = await calling(
    { skills: { ...actionSkill("keeper", secret), ...actionSkill("other", secret) }, mount: ["keeper"], grants },
    async (callSkill) => await callSkill(name, {}).then(() => "came back", caught),
    () => "raise",
  );
  expect(result).toMatchObject({ status: "completed", output: { type, run } });
});

test("a run can call at most fifty skills", async () => {
  const result = await calling(
    { skills: actionSkill("keeper", secret), mount: ["keeper"], grants: ["keeper:secrets"] },
    async (callSkill) => {
      for (let count = 0; count < 50; count++) await callSkill("keeper", {});
      return await callSkill("keeper", {}).then(() => "came back", caught);
    },
  );
  expect(result).toMatchObject({ output: { type: "NestingLimitError" } });
});

test("skill calls can be nested at most four deep", async () => {
  const chain = Object.assign(
    {},
    ...["a", "b", "c", "d", "e"].map((name, place, names) =>
      actionSkill(name, `${place < 4 ? `[dependencies]\nskills = ["${names[place + 1] ?? ""}"]\n` : ""}${secret}`),
    ),
  ) as Record<string, string>;
  const reached: string[] = [];
  const result = await calling(
    { skills: chain, mount: ["a"], grants: ["a", "b", "c", "d", "e"].map((name) => `${name}:secrets`) },
    async (callSkill) => await callSkill("a", {}),
    async (run, callSkill) => {
      reached.push(run.program.type === "skill" ? run.program.skill : "");
      const [next] = run.brokered;
      return next === undefined ? "the end" : await callSkill(next, {}).catch(caught);
    },
  );
  expect(reached).toEqual(["a", "b", "c", "d"]);
  expect(result).toMatchObject({ output: { type: "NestingLimitError" } });
});

test("a nested run gets the remaining time of the outer run", async () => {
  const limits: number[] = [];
  const { call, clock } = await openRunner(
    actionSkill("keeper", secret),
    async ({ run, callSkill }) => {
      limits.push(run.limits.timeoutMs);
      if (run.program.type === "skill") return { type: "returned", value: null };
      clock.pass(700);
      return { type: "returned", value: await callSkill("keeper", {}) };
    },
    { grants: ["keeper:secrets"], readSecret: () => Promise.resolve("value") },
  );
  await call("run_code", { ...python, mount_skills: ["keeper"], limits: { timeout_ms: 1000 } });
  expect(limits).toEqual([1000, 300]);
});

test("dependencies are mounted in a version that satisfies the range; those with permissions are brokered", async () => {
  const dependent = (extra: string) =>
    actionSkill("top", `[dependencies]\nskills = ["lib.tools@^1.1", "keeper"]\n${extra}`);
  const libraries = { ...actionSkill("lib.tools"), ...actionSkill("keeper", secret) };
  const seen: SandboxRun[] = [];
  const open = (extra: string) =>
    openRunner(
      { ...dependent(extra), ...libraries },
      ({ run }) => {
        seen.push(run);
        return { type: "returned", value: null };
      },
      { grants: ["top:network"] },
    );
  await (await open("")).call("execute_skill", { name: "top" });
  await (await open('[permissions]\nnetwork = ["https://a.example"]')).call("execute_skill", { name: "top" });
  expect(seen.map(({ skills, brokered }) => [skills.map(({ name }) => name), brokered])).toEqual([
    [["top", "lib.tools"], ["keeper"]],
    [["top"], ["lib.tools", "keeper"]],
  ]);
  const missing = await openRunner(actionSkill("top", '[dependencies]\nskills = ["lib.tools@^2"]'), () => ({
    type: "returned",
    value: null,
  }));
  expect(await refusal(missing.call("execute_skill", { name: "top" }))).toMatchObject({
    code: "SKILL_NOT_READY",
    retryable: false,
  });
});

const scripts = {
  ...agentSkill("pdf", "metadata:\n  acp-skills-project: read\n"),
  ...agentSkill("tool"),
  "/skills/tool/scripts/run.py": "print(1)\n",
  "/skills/tool/scripts/deep/run.sh": "echo\n",
  "/skills/tool/scripts/notes.txt": "no\n",
  "/skills/tool/other.py": "no\n",
};

test("a script runs in its language with string arguments", async () => {
  let seen: SandboxRun | undefined;
  const { call } = await openRunner(scripts, ({ run, print }) => {
    seen = run;
    print("out\n");
    print("err\n", "stderr");
    return { type: "exited", exitCode: 0 };
  });
  const result = await call("execute_skill", {
    name: "tool",
    script: "scripts/run.py",
    args: { argv: ["--in", "x"], stdin: "text" },
  });
  expect(seen?.program).toEqual({
    type: "script",
    skill: "tool",
    file: "scripts/run.py",
    language: "python",
    argv: ["--in", "x"],
    stdin: "text",
  });
  expect(result).toMatchObject({
    status: "completed",
    output: { exit_code: 0, stdout: "out\n", stderr: "err\n" },
    logs_preview: "out\nerr\n",
  });
  await call("execute_skill", { name: "tool", script: "scripts/deep/run.sh" });
  expect(seen?.program).toMatchObject({ language: "bash", argv: [] });
});

test("a script that exits with a code other than 0 is a failed run", async () => {
  const { call } = await openRunner(scripts, ({ print }) => {
    print("half done\n", "stderr");
    return { type: "exited", exitCode: 3 };
  });
  expect(await call("execute_skill", { name: "tool", script: "scripts/run.py" })).toMatchObject({
    status: "failed",
    error: { type: "ScriptError", details: { exit_code: 3, stderr: "half done\n" } },
  });
});

test("long script output is stored as a blob, the longer stream first", async () => {
  const { call } = await openRunner(scripts, ({ print }) => {
    print("x".repeat(10_000));
    print("short", "stderr");
    return { type: "exited", exitCode: 0 };
  });
  const { output, output_blobs } = (await call("execute_skill", { name: "tool", script: "scripts/run.py" })) as {
    output: { stdout: { blob_id: string }; stderr: string };
    output_blobs: string[];
  };
  expect(output_blobs).toEqual([output.stdout.blob_id]);
  expect(output).toMatchObject({ exit_code: 0, stdout: { truncated: true, size_bytes: 10_000 }, stderr: "short" });
  expect(await call("read_blob", { blob_id: output.stdout.blob_id, mode: "full" })).toMatchObject({
    content: "x".repeat(10_000),
  });
});

test.each([
  ["scripts/none.py", {}, "FILE_NOT_FOUND"],
  ["scripts/notes.txt", {}, "FILE_NOT_FOUND"],
  ["other.py", {}, "FILE_NOT_FOUND"],
  ["scripts/../other.py", {}, "FILE_NOT_FOUND"],
  ["../../etc/passwd", {}, "FILE_NOT_FOUND"],
  ["/bin/sh", {}, "FILE_NOT_FOUND"],
  ["scripts/run.py\0", {}, "FILE_NOT_FOUND"],
  ["scripts/run.py", { argv: "x" }, "VALIDATION_ERROR"],
  ["scripts/run.py", { argv: [1] }, "VALIDATION_ERROR"],
  ["scripts/run.py", { argv: ["a\0b"] }, "VALIDATION_ERROR"],
  ["scripts/run.py", { stdin: 5 }, "VALIDATION_ERROR"],
  ["scripts/run.py", { args: [] }, "VALIDATION_ERROR"],
])("the script %j with %j is not started", async (script, args, code) => {
  const { call } = await openRunner(scripts, () => {
    throw new Error("not to be run");
  });
  expect(await refusal(call("execute_skill", { name: "tool", script, args }))).toMatchObject({ code });
});

test("a full queue refuses the next run with RUNTIME_BUSY", async () => {
  const { call, clock } = await openRunner({}, ({ forever }) => forever(), { concurrency: 1, maxWaiting: 1 });
  const first = call("run_code", python);
  const second = call("run_code", python);
  while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(await refusal(call("run_code", python))).toMatchObject({
    code: "RUNTIME_BUSY",
    hint: expect.stringContaining("try again") as string,
  });
  clock.pass(30_000);
  expect(await first).toMatchObject({ error: { type: "TimeoutError" } });
  while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve));
  clock.pass(30_000);
  expect(await second).toMatchObject({ error: { type: "TimeoutError" } });
});

test("one signal cancels any number of runs without a leak warning", async () => {
  const warn = vi.spyOn(process, "emitWarning");
  const { toolbox, context } = await openRunner({}, ({ forever }) => forever(), { concurrency: 2, maxWaiting: 20 });
  const turn = new AbortController();
  const runs = Array.from({ length: 20 }, () => toolbox.call("run_code", python, context, turn.signal));
  const ends = Promise.allSettled(runs);
  await new Promise((resolve) => setImmediate(resolve));
  turn.abort(new Error("the turn is over"));
  expect(new Set((await ends).map(({ status }) => status))).toEqual(new Set(["rejected"]));
  expect(warn).not.toHaveBeenCalled();
  warn.mockRestore();
});

test("releases all blobs if one of them cannot be held", async () => {
  const blobs = memoryBlobs();
  const held = new Set<string>();
  const store: BlobStore = {
    ...blobs,
    async hold(_owner, id) {
      if (id === gone) throw new SkillsError("BLOB_NOT_FOUND", "It has just been removed.");
      await Promise.resolve();
      held.add(id);
      return () => Promise.resolve(void held.delete(id));
    },
  };
  const { id: gone } = await store.put("me", "text/plain", Buffer.from("gone"));
  const { id: kept } = await store.put("me", "text/plain", Buffer.from("kept"));
  const { call } = await openRunner({}, () => ({ type: "returned", value: [...held] }), { store });
  expect(await call("run_code", { ...python, input_blobs: [kept] })).toMatchObject({ output: [kept] });
  const refused = await refusal(call("run_code", { ...python, input_blobs: [gone, kept] }));
  expect([refused.code, held.size]).toEqual(["BLOB_NOT_FOUND", 0]);
});

test("an argument called __proto__ is plain data and pollutes no prototype", async () => {
  const args = JSON.parse('{"__proto__":{"polluted":1},"a":{"__proto__":{"polluted":2}}}') as Json;
  const { call } = await openRunner(actionSkill("a.b"), ({ run }) => ({
    type: "returned",
    value: run.program.type === "script" ? null : JSON.stringify(run.program.args),
  }));
  for (const [tool, asked] of [
    ["run_code", python],
    ["execute_skill", { name: "a.b" }],
  ] as const) {
    expect(await call(tool, { ...asked, args })).toMatchObject({ output: JSON.stringify(args) });
  }
  expect({}).not.toHaveProperty("polluted");
});

test("code cannot mount the files of skills that came with a project before the user trusts it", async () => {
  const runs: SandboxRun[] = [];
  const skills = { ...agentSkill("pdf"), ...actionSkill("a.b", '[permissions]\nnetwork = ["https://api.example"]') };
  const { call } = await openRunner(
    skills,
    ({ run }) => {
      runs.push(run);
      return { type: "returned", value: null };
    },
    { roots: [{ path: "/skills", origin: "project" }] },
  );
  expect(await refusal(call("run_code", { ...python, mount_skills: ["pdf"] }))).toMatchObject({
    code: "PERMISSION_DENIED",
    message: expect.stringContaining("its instructions cannot be read") as string,
  });
  expect(runs).toEqual([]);
  // A stub shows nothing of the skill behind it.
  await call("run_code", { ...python, mount_skills: ["a.b"] });
  expect(runs).toHaveLength(1);
});
