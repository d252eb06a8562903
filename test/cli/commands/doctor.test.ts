import { expect, test } from "vitest";
import { runCli } from "../run-cli.ts";
import { skillText, useTemporaryProject } from "../temporary-project.ts";

const project = useTemporaryProject();

interface Tier {
  readonly tier: string;
  readonly usable: boolean;
  readonly reason?: string;
}

test("the doctor tells of node, python, every tier, the limits, the roots and the agents; 0 exactly when something isolates", async () => {
  const { code, stdout } = await runCli(["doctor", "--json"], { cwd: project.directory });
  const report = JSON.parse(stdout) as { isolation: string | null; tiers: readonly Tier[] };
  expect(report).toMatchObject({
    node: { version: process.versions.node },
    python: expect.any(Object) as object,
    limits: { timeout_ms: 30_000, max_timeout_ms: 600_000, memory_mb: 512 },
    roots: expect.arrayContaining([{ path: project.at(".agents/skills"), exists: false }]) as object[],
    agents: expect.any(Array) as unknown[],
  });
  for (const { usable, reason } of report.tiers) expect(usable || reason !== undefined).toBe(true);
  expect(report.isolation).toBe(report.tiers.find(({ usable }) => usable)?.tier ?? null);
  expect(code).toBe(report.isolation === null ? 1 : 0);
}, 60_000);

test.skipIf(process.platform !== "linux")(
  "what does not work here makes it exit with 1, and say what is missing",
  async () => {
    const { code, stdout } = await runCli(["doctor", "--isolation", "seatbelt"], { cwd: project.directory });
    expect(code).toBe(1);
    expect(stdout).toContain("none: nothing is executed");
    expect(stdout).toMatch(/seatbelt +\S/);
  },
  60_000,
);

test("the doctor says which grants are for nobody", async () => {
  project.write("own/known/SKILL.md", skillText("known"));
  project.write("clone/.agents/skills/cloned/SKILL.md", skillText("cloned"));
  const grants = ["--grant", "known:network", "--grant", "unknown:secrets", "--grant", "cloned:network"];
  const args = ["doctor", "--isolation", "seatbelt", "--skills", "own", "--cwd", "clone", ...grants];
  const { stdout } = await runCli(args, { cwd: project.directory });
  expect(stdout).toMatch(/^grant +known:network$/m);
  expect(stdout).toMatch(/^grant +unknown:secrets {2}\(no skill is called unknown; did you mean known\?\)$/m);
  expect(stdout).toMatch(/^grant +cloned:network {2}\(cloned came with the project; grants apply only to /m);
});

test("the doctor says which agents ask before a tool runs code", async () => {
  const { stdout } = await runCli(["doctor", "--isolation", "seatbelt"], { cwd: project.directory });
  expect(stdout).toMatch(/ask first +Claude, Gemini CLI, qwen-code, Copilot: /);
  expect(stdout).toMatch(/do not +opencode, Codex/);
});

test("the doctor says whether runs get a cgroup, and what its absence means", async () => {
  const { stdout } = await runCli(["doctor", "--isolation", "seatbelt"], { cwd: project.directory });
  expect(stdout).toMatch(/^cgroup +(one for each sandbox, below \/.+|none: \S.+\n +Rulesets, .+ descriptors only\.)$/m);
  const json = await runCli(["doctor", "--json", "--isolation", "seatbelt"], { cwd: project.directory });
  const { cgroup } = JSON.parse(json.stdout) as { cgroup: Record<string, unknown> };
  const told = cgroup["usable"] === true ? ["parent", "usable"] : ["consequence", "reason", "usable"];
  expect(Object.keys(cgroup).sort()).toEqual(told);
});
