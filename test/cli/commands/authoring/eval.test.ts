import { once } from "node:events";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import type { Benchmark } from "../../../../src/evals/statistics.ts";
import { runCli, startCli } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();
const agent = [
  "--",
  process.execPath,
  fileURLToPath(new URL("../../../agent/scripted-agent.js", import.meta.url)),
  "http",
];
const examples = fileURLToPath(new URL("../../../../examples/skills/", import.meta.url));

function writeSkill(evals: readonly object[]): void {
  project.write("greet/SKILL.md", skillText("greet"));
  project.write("greet/evals/evals.json", JSON.stringify({ evals }));
}

const evaluate = (...args: readonly string[]): ReturnType<typeof runCli> =>
  runCli(["eval", ...args, ...agent], { cwd: project.directory });

test("prints a table with and without the skill, how often it was used, and where all of it is recorded", async () => {
  writeSkill([
    {
      id: "reads",
      prompt: 'tool describe_skill {"name":"greet"}',
      assertions: [{ pattern: "frontmatter" }, { file: "chart.png" }],
    },
    { id: "other", prompt: "say hello", should_trigger: false },
    { id: "dies", prompt: "die 3" },
  ]);
  const { code, stdout } = await evaluate("greet", "--runs", "2", "--alone", "--timeout", "20");
  expect(code).toBe(0);
  const rows = stdout.split("\n");
  expect(rows[0]).toMatch(/^CASE +WITH +WITHOUT +USED +WHAT DID NOT HOLD WITH IT$/);
  expect(rows[1]).toMatch(/^reads +50 % +0 % +2 of 2 +chart\.png is there$/);
  expect(rows[2]).toMatch(/^other +not judged +not judged +0 of 2 \(should not\)$/);
  expect(rows[3]).toMatch(/^dies +failed +failed +0 of 0 +session\/prompt: /);
  expect(stdout).toMatch(/with the skill: 50 % of assertions, [\d.]+ s a session, 2 failed sessions\n/);
  expect(stdout).toContain("the skill helps: better in 1 case, worse in 0, the same in 0\n");
  expect(stdout).toContain("used where it should be: 2 of 2 (95 %: 34 % to 100 %)\n");
  expect(stdout).toContain("recorded in greet-workspace/iteration-1\n");
}, 60_000);

test("exits with 1 if the skill makes it worse than an earlier iteration, and says how", async () => {
  writeSkill([{ prompt: "say hello", assertions: [{ pattern: "hello" }] }]);
  expect((await evaluate("greet/SKILL.md", "--runs", "1", "--with-only")).code).toBe(0);
  writeSkill([{ prompt: "say bye", assertions: [{ pattern: "hello" }] }]);
  const baseline = ["--baseline", "greet-workspace/iteration-1"];
  const { code, stderr } = await evaluate("greet", "--runs", "1", "--with-only", ...baseline);
  expect(code).toBe(1);
  expect(stderr).toContain("worse than the baseline: 0 % of assertions pass instead of 100 %");
}, 60_000);

test("--replay needs no agent, but recorded runs", async () => {
  writeSkill([{ prompt: "say hello", assertions: [{ pattern: "bye" }] }]);
  await evaluate("greet", "--runs", "1", "--with-only");
  writeSkill([{ prompt: "say hello", assertions: [{ pattern: "hello" }] }]);
  const replay = async (directory: string) =>
    await runCli(["eval", "greet", "--replay", directory], { cwd: project.directory });
  const { code, stdout } = await replay("greet-workspace/iteration-1");
  expect([code, stdout]).toEqual([0, expect.stringContaining("with the skill: 100 % of assertions")]);
  expect(await replay("greet")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("no recorded runs") as string,
  });
});

test("exits with 1 if no session worked", async () => {
  writeSkill([{ prompt: "die 3" }]);
  const { code, stderr } = await evaluate("greet", "--runs", "1", "--with-only");
  expect([code, stderr]).toEqual([1, expect.stringContaining("no session worked: session/prompt: ")]);
});

test("stops at once if the agent does not start, and leaves no results of nothing", async () => {
  writeSkill([{ prompt: "p" }, { prompt: "q" }]);
  const line = ["eval", "greet", "--", "no-such-agent-anywhere"];
  const { code, stderr } = await runCli(line, { cwd: project.directory });
  expect([code, stderr]).toEqual([3, expect.stringContaining("The agent does not start: initialize: ")]);
  expect(stderr).not.toContain("{");
  expect(readdirSync(project.at("greet-workspace"))).toEqual([]);
});

test("files in the agent's command are those of the current directory, wherever its sessions are", async () => {
  writeSkill([{ prompt: "say hello", assertions: [{ pattern: "hello" }, "It is kind"] }]);
  project.write("agent.mjs", `import ${JSON.stringify(pathToFileURL(agent.at(-2) ?? "").href)};`);
  const line = ["eval", "greet", "--runs", "1", "--with-only", "--", process.execPath, "agent.mjs", "http"];
  const { code, stderr } = await runCli(line, { cwd: project.directory });
  expect([code, stderr]).toEqual([
    0,
    "acp-skills: 1 result in words not judged: --judge COMMAND names an agent that does\n",
  ]);
});

test.each([
  [["eval", "greet"], "missing agent; write: acp-skills eval SKILL -- AGENT [ARG…]"],
  [["eval", "nothing", ...agent], "nothing is no directory of a skill: it has no SKILL.md"],
  [["eval", "greet", "--case", "9", ...agent], "--case 9: there is no such case"],
  [["eval", "greet", "--runs", "0", ...agent], "--runs needs 1 to 100, not 0"],
  [["eval", "greet", "--baseline", "greet", ...agent], "there is no usable benchmark.json"],
])("refuses %j before anything is started", async (line, message) => {
  writeSkill([{ id: 1, prompt: "p" }]);
  const { code, stderr } = await runCli(line, { cwd: project.directory });
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

test.skipIf(process.platform === "win32")(
  "Ctrl-C ends 200 cases, and keeps what is done",
  async () => {
    writeSkill(Array.from({ length: 200 }, (_, index) => ({ id: index + 1, prompt: "say hello" })));
    const child = startCli(["eval", "greet", "--with-only", "--runs", "1", ...agent], { cwd: project.directory });
    const closed = once(child, "close");
    const stderr = child.stderr.setEncoding("utf8").toArray();
    const iteration = project.at("greet-workspace", "iteration-1");
    const recorded = (): number =>
      existsSync(path.join(iteration, "runs.ndjson"))
        ? readFileSync(path.join(iteration, "runs.ndjson"), "utf8").trim().split("\n").length
        : 0;
    await expect.poll(recorded, { timeout: 30_000 }).toBeGreaterThan(0);
    child.kill("SIGINT");
    expect(await closed).toEqual([130, null]);
    expect((await stderr).join("")).toContain(`interrupted; ${recorded()} run`);
    const { run_summary } = JSON.parse(readFileSync(path.join(iteration, "benchmark.json"), "utf8")) as Benchmark;
    expect(run_summary.with_skill?.runs).toBe(recorded());
  },
  60_000,
);

describe.each(["commit-message", "csv-summary", "release-notes"])("the example %s", (name) => {
  test("can be evaluated; --json has the form of its schema", async () => {
    const { code, stdout, stderr } = await evaluate(
      `${examples}${name}`,
      "--runs",
      "1",
      "--json",
      "--workspace",
      "results",
    );
    const printed = JSON.parse(stdout) as { readonly runs: readonly { readonly fault?: string }[] };
    const schema = JSON.parse(
      readFileSync(new URL("../../../../schema/output.json", import.meta.url), "utf8"),
    ) as object;
    const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(schema, "output");
    expect(ajv.validate("output#/$defs/eval", printed), JSON.stringify(ajv.errors)).toBe(true);
    expect(printed.runs.length).toBeGreaterThan(1);
    expect(printed.runs.filter(({ fault }) => fault !== undefined)).toEqual([]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^(?:acp-skills: \d+ results? in words not judged: [^\n]+\n)?$/);
  }, 60_000);
});
