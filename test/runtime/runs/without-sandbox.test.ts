import { expect, test } from "vitest";
import type { RunSpec } from "../../../src/runtime/runs/run-spec.ts";
import { SkillsError } from "../../../src/base/errors.ts";
import type { MemoryScript } from "../sandbox/memory-sandbox.ts";
import { refusal } from "../tools/open-tools.ts";
import { openMemoryRun } from "./open-memory-run.ts";
import type { MemoryRunsOptions } from "./memory-runs.ts";
import { actionSkill } from "./open-runner.ts";

const { signal } = new AbortController();
const request = { type: "skill", name: "bare" } as const;
const bare = actionSkill("bare", '[permissions]\nisolation = "none"\nsecrets = ["KEY"]');
const secret = "hunter2hunter2";
const noSandbox = new SkillsError("SANDBOX_UNAVAILABLE", "No sandbox is available.");

async function open(options: MemoryRunsOptions = {}, skills: Readonly<Record<string, string>> = bare) {
  const started: unknown[] = [];
  const script: MemoryScript = async ({ run, print, callSkill }) => {
    started.push([run.program.type, run.isolation ?? "sandbox"]);
    print(`${run.secrets["KEY"] ?? "no secret"}\n`);
    if (run.program.type === "code") return { type: "returned", value: await callSkill("bare", {}) };
    return { type: "returned", value: { secret: run.secrets["KEY"] ?? null } };
  };
  const readSecret = () => Promise.resolve(secret);
  return { ...(await openMemoryRun(skills, script, { readSecret, ...options })), started };
}

/** Grants these bytes, all that they declare or some kinds of it. */
async function granted(kinds = "", skills = bare): Promise<readonly string[]> {
  const { runs, caller } = await open({}, skills);
  const { skill } = await runs.plan(request, caller, signal);
  return [`bare@${skill?.digest ?? ""}${kinds}`];
}

test("a skill that asks to run without a sandbox does not start without a grant, nor with one of another kind", async () => {
  for (const grants of [[], await granted(":secrets"), await granted(":network,secrets,project-write")]) {
    const { runs, caller, started } = await open({ grants });
    const spec = await runs.plan(request, caller, signal);
    const refused = await refusal(runs.run(spec, caller, signal));
    expect(refused).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(refused.message).toContain("without a sandbox");
    expect(started).toEqual([]);
  }
});

test("with a grant of all that it declares, it runs without a sandbox, and its result and its start say so", async () => {
  const { runs, caller, started, events } = await open({ grants: await granted(), unavailable: noSandbox });
  const spec = await runs.plan(request, caller, signal);
  expect(spec.needs).toMatchObject({ isolation: "none" });
  expect(await runs.check(spec, caller, signal)).toMatchObject({ isolation: "none" });
  const result = await runs.run(spec, caller, signal);
  expect(result).toMatchObject({ status: "completed", limits_applied: { isolation: "none" } });
  expect(events).toContainEqual({
    runId: spec.runId,
    type: "started",
    isolation: "none",
    by: expect.stringMatching(/^--grant bare@sha256:/) as string,
  });
  expect(started).toEqual([["skill", "none"]]);
});

test("its secrets are masked in what it prints, returns and reports", async () => {
  const { runs, caller, events } = await open({ grants: await granted() });
  const result = await runs.run(await runs.plan(request, caller, signal), caller, signal);
  expect(result).toMatchObject({ output: { secret: "***" }, logs_preview: "***\n" });
  expect(JSON.stringify([result, events])).not.toContain("hunter2");
});

test("no other skill runs without a sandbox, whatever is granted and where there is no sandbox", async () => {
  const plain = actionSkill("bare", '[permissions]\nsecrets = ["KEY"]');
  const { runs, caller, started } = await open({ grants: await granted("", plain), unavailable: noSandbox }, plain);
  const spec = await runs.plan(request, caller, signal);
  expect(spec.needs).not.toHaveProperty("isolation");
  expect(await refusal(runs.run(spec, caller, signal))).toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
  const forged: RunSpec = { ...spec, needs: { ...spec.needs, isolation: "none" } };
  expect(await refusal(runs.run(forged, caller, signal))).toMatchObject({ code: "PERMISSION_DENIED" });
  expect(started).toEqual([]);
});

test("a spec that needs less than its skill requests does not run", async () => {
  const { runs, caller, started } = await open({ grants: await granted() });
  const spec = await runs.plan(request, caller, signal);
  const { network, secrets, project } = spec.needs;
  const less: RunSpec = { ...spec, needs: { network, secrets, project } };
  expect(await refusal(runs.run(less, caller, signal))).toMatchObject({ code: "SKILL_NOT_READY" });
  expect(started).toEqual([]);
});

test("code that the model wrote stays in the sandbox when it calls such a skill", async () => {
  const code = { type: "code", code: "", entrypoint: "main", mountSkills: ["bare"] } as const;
  const { runs, caller, started } = await open({ grants: await granted() });
  const spec = await runs.plan(code, caller, signal);
  expect(spec).toMatchObject({ mounts: [], brokered: [{ name: "bare" }], needs: { secrets: [] } });
  expect(spec.needs).not.toHaveProperty("isolation");
  const result = await runs.run(spec, caller, signal);
  expect(result).toMatchObject({ status: "completed", limits_applied: { isolation: "memory" } });
  expect(started).toEqual([
    ["code", "sandbox"],
    ["skill", "none"],
  ]);
});
