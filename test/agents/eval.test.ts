import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { type Evaluation, evaluate } from "../../src/evals/evaluate.ts";
import { readEvalCases } from "../../src/skills/check.ts";
import { type PlannedCall, openMockModel } from "./mock-model.ts";
import { makePlayground, writeSkill } from "./playground.ts";
import { type RealAgent, claude, gemini, prepareHome } from "./real-agents.ts";

/** Evaluates one case of the skill `csv-facts`, whose model makes these calls in the session with the skill. */
async function evaluateWith(agent: RealAgent, calls: readonly PlannedCall[]): Promise<Evaluation> {
  const playground = await makePlayground();
  onTestFinished(playground.remove);
  const model = await openMockModel();
  onTestFinished(model.close);
  const skill = { directory: join(playground.explicitSkills, "csv-facts"), name: "csv-facts", slug: "csv-facts" };
  await writeSkill(playground.explicitSkills, {
    name: skill.name,
    description: "Facts on CSV.",
    instructions: "SECRET WORDS",
  });
  await mkdir(join(skill.directory, "evals"));
  const evals = [{ id: "one", prompt: "How many rows?", assertions: [{ pattern: "mock model has answered" }] }];
  await writeFile(join(skill.directory, "evals", "evals.json"), JSON.stringify({ evals }));
  const home = { modelUrl: model.url, home: playground.home };
  await prepareHome(agent, home);
  const [command = "", ...args] = await agent.command();
  model.plan(calls);
  const evaluation = await evaluate({
    ...{
      skill,
      cases: await readEvalCases(skill.directory),
      runs: 1,
      comparesWithout: true,
      keepsOthers: false,
      judge: undefined,
      replay: undefined,
    },
    agent: {
      command,
      args,
      env: { PATH: process.env["PATH"], HOME: playground.home, ...agent.environment(home) },
    },
    options: { log: silentLog, dataDirectory: join(playground.home, "data") },
    ...{ timeoutMs: 60_000, maxCalls: 20, workspace: join(playground.temporary, "workspace"), clock: systemClock },
    openSandbox: () => Promise.reject(new Error("Nothing is run here.")),
    ...{ signal: new AbortController().signal, onProgress: () => undefined },
  });
  expect(JSON.stringify(model.requests).includes("How many rows?")).toBe(true);
  return evaluation;
}

test.each<[string, RealAgent, string, readonly PlannedCall[]]>([
  ["its own tool for skills", claude, "used", [{ tool: "Skill", input: { skill: "csv-facts" } }]],
  // It connects to our server during its first turn: the model of a test would not wait for that.
  ["nothing", claude, "unused", []],
  ["our tool", gemini, "used", [{ tool: "read_skill_file", input: { name: "csv-facts", path: "SKILL.md" } }]],
])("a session of a real agent that calls %s is recognised", async (_what, agent, use, calls) => {
  const { runs, benchmark } = await evaluateWith(agent, calls);
  expect(runs.map(({ withSkill, fault, use: seen, results }) => [withSkill, fault, seen, results[0]?.passed])).toEqual([
    [true, undefined, use, true],
    [false, undefined, "unused", true],
  ]);
  expect(benchmark.run_summary.with_skill).toMatchObject({ runs: 1, failed: 0, pass_rate: { mean: 1 } });
});
