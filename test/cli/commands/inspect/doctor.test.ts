import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { expect, test } from "vitest";
import { runCli, runProcess } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();

interface Tier {
  readonly tier: string;
  readonly usable: boolean;
  readonly reason?: string;
}

test("reports node, python, every tier, limits, roots and agents, and exits with 0 exactly if a tier is available", async () => {
  const { code, stdout } = await runProcess(["doctor", "--json"], { cwd: project.directory });
  const report = JSON.parse(stdout) as { isolation: string | null; tiers: readonly Tier[] };
  expect(report).toMatchObject({
    node: { version: process.versions.node },
    python: expect.any(Object) as object,
    limits: { timeout_ms: 30_000, max_timeout_ms: 600_000, memory_mb: 512 },
    roots: expect.arrayContaining([{ path: project.at(".agents/skills"), exists: false }]) as object[],
    agents: expect.any(Array) as unknown[],
  });
  expect(report.tiers.map(({ tier }) => tier)).not.toContain("none");
  for (const { usable, reason } of report.tiers) expect(usable || reason !== undefined).toBe(true);
  expect(report.isolation).toBe(report.tiers.find(({ usable }) => usable)?.tier ?? null);
  expect(code).toBe(report.isolation === null ? 1 : 0);
}, 60_000);

test.skipIf(process.platform !== "linux")(
  "exits with 1 if no tier is available, and says what is missing",
  async () => {
    const { code, stdout } = await runCli(["doctor", "--isolation", "seatbelt"], { cwd: project.directory });
    expect(code).toBe(1);
    expect(stdout).toContain("not available: code execution is disabled");
    expect(stdout).toMatch(/seatbelt +\S/);
  },
  60_000,
);

test("reports grants that have no effect", async () => {
  project.write("own/known/SKILL.md", skillText("known"));
  project.write("clone/.agents/skills/cloned/SKILL.md", skillText("cloned"));
  const grants = ["--grant", "known:network", "--grant", "unknown:secrets", "--grant", "cloned:network"];
  const args = ["doctor", "--isolation", "seatbelt", "--skills", "own", "--cwd", "clone", ...grants];
  const { stdout } = await runCli(args, { cwd: project.directory });
  expect(stdout).toMatch(/^grant +known:network$/m);
  expect(stdout).toMatch(/^grant +unknown:secrets {2}\(unknown skill unknown; did you mean known\?\)$/m);
  expect(stdout).toMatch(/^grant +cloned:network {2}\(cloned came with the project; name its digest /m);
});

test("names the policies that count here", async () => {
  const args = ["doctor", "--isolation", "seatbelt"];
  expect((await runCli(args, { cwd: project.directory })).stdout).toMatch(/^policy +none$/m);
  const file = project.write("acp-skills.policy.json", "{}");
  expect((await runCli(args, { cwd: project.directory })).stdout).toContain("~/acp-skills.policy.json  (project)");
  project.write("acp-skills.policy.json", "{");
  const { stdout } = await runCli([...args, "--json"], { cwd: project.directory });
  expect((JSON.parse(stdout) as { policies: unknown }).policies).toEqual([{ origin: "project", file, used: false }]);
});

test("reports which agents ask before a tool runs code", async () => {
  const { stdout } = await runCli(["doctor", "--isolation", "seatbelt"], { cwd: project.directory });
  expect(stdout).toMatch(/ask first +Claude, Gemini CLI, qwen-code, Copilot, Kimi Code: /);
  expect(stdout).toMatch(/do not ask +opencode, Kilo, auggie, Codex/);
});

test("reports whether runs get a cgroup, and what its absence means", async () => {
  const { stdout } = await runCli(["doctor", "--isolation", "seatbelt"], { cwd: project.directory });
  expect(stdout).toMatch(/^cgroup +(one per sandbox, below \/.+|none: \S.+\n +Without one, .+ descriptors only\.)$/m);
  const json = await runCli(["doctor", "--json", "--isolation", "seatbelt"], { cwd: project.directory });
  const { cgroup } = JSON.parse(json.stdout) as { cgroup: Record<string, unknown> };
  const told = cgroup["usable"] === true ? ["parent", "usable"] : ["consequence", "reason", "usable"];
  expect(Object.keys(cgroup).sort()).toEqual(told);
});

test.each([
  ["a file", () => project.write("data", ""), /^ +cannot be used: .*data is not a directory; remove it, or set /m],
  ["below a file", () => project.write("file", ""), /^ +cannot be used: .*file is not a directory; /m],
  [
    "writable for others",
    () => {
      mkdirSync(project.at("data"));
      chmodSync(project.at("data"), 0o777);
    },
    /^ +cannot be used: .*chmod go-w /m,
  ],
])("reports a data directory that is %s", async (which, prepare, told) => {
  prepare();
  const ACP_SKILLS_HOME = which === "below a file" ? project.at("file", "data") : project.at("data");
  const args = ["doctor", "--isolation", "seatbelt"];
  const { stdout } = await runCli(args, { cwd: project.directory, env: { ACP_SKILLS_HOME } });
  expect(stdout).toMatch(told);
});

test("accepts a data directory that does not exist yet, and does not create it", async () => {
  const env = { ACP_SKILLS_HOME: project.at("not", "yet") };
  const { stdout } = await runCli(["doctor", "--isolation", "seatbelt"], { cwd: project.directory, env });
  expect(stdout).not.toContain("cannot be used");
  expect(existsSync(project.at("not"))).toBe(false);
});

test("reports what is in a directory of a lock and is no ticket", async () => {
  for (const place of ["trust/lock/999999999999999", "blobs/v1/lock/x", "remote/turns/12/y", "trust/lock/7.free"])
    project.write(`data/${place}`, "");
  const environment = { ACP_SKILLS_HOME: project.at("data") };
  const { stdout } = await runCli(["doctor", "--isolation", "seatbelt"], { cwd: project.directory, env: environment });
  const told = [...stdout.matchAll(/^ +not of acp-skills, ignored; remove it: .*[/\\](.+)$/gm)].map(([, name]) => name);
  expect(told).toEqual(["999999999999999", "x", "12"]);
});

test("says nothing about clusters where none is named", async () => {
  const { stdout } = await runCli(["doctor", "--isolation", "seatbelt"], { cwd: project.directory });
  expect(stdout).not.toMatch(/^cluster/m);
});

test.each([
  [
    "that does not answer",
    "postgres://acp@127.0.0.1:1/x",
    /^cluster +cannot be used: postgres:\/\/acp@127\.0\.0\.1:1\/x\n +\S.+$/m,
  ],
  [
    "whose URL is none",
    "mysql://127.0.0.1/x",
    /^cluster +cannot be used: *\n(?: +.+\n)* +.*needs the URL of a PostgreSQL database/m,
  ],
])(
  "reports a cluster %s, by option or by environment, and exits with 1",
  async (_which, url, expected) => {
    const cwd = project.directory;
    const given = await runCli(["doctor", "--cluster", url], { cwd });
    expect(given.stdout).toMatch(expected);
    const env = { ACP_SKILLS_CLUSTER: url.replace("acp@", "acp:hunter2@") };
    const { code, stdout } = await runCli(["doctor", "--json"], { cwd, env });
    expect((JSON.parse(stdout) as { cluster: unknown }).cluster).toMatchObject({ usable: false });
    expect(stdout).not.toContain("hunter2");
    expect([given.code, code]).toEqual([1, 1]);
  },
  60_000,
);
