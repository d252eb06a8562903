import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { Report } from "../../../src/conformance/report/report.ts";
import { binary, runCli } from "../run-cli.ts";
import { useTemporaryProject } from "../temporary-project.ts";

const project = useTemporaryProject();
const at = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const scripted = [process.execPath, at("test/agent/scripted-agent.js"), "commands=plan"];
const broken = (rule: string): string[] => [process.execPath, at("test/agent/broken-agent.js"), rule];

async function conformance(...args: string[]) {
  return await runCli(["conformance", ...args], { cwd: project.directory });
}

test("our wrapper is conformant, and every form that an editor asked for is named", { timeout: 120_000 }, async () => {
  const record = project.at("record.ndjson");
  const wrapped = [
    process.execPath,
    binary,
    "--no-default-roots",
    "--skills",
    at("examples/skills"),
    "--",
    ...scripted,
  ];
  const { code, stdout } = await conformance("--format", "json", "--record", record, "--", ...wrapped);
  const { connections, conformant } = JSON.parse(stdout) as Report;
  expect([code, conformant]).toEqual([0, true]);
  expect(connections.map(({ forms }) => forms.map(({ form }) => form).join())).toEqual([
    expect.stringContaining('commands with _meta["acp-skills"]'),
    expect.stringContaining("available_skills_update"),
    expect.stringContaining("_acp-skills/skills_update"),
    "",
  ]);
  expect(readFileSync(record, "utf8")).not.toContain(project.directory);
  expect(await conformance("--replay", record)).toMatchObject({ code: 0 });
});

test(
  "an agent that breaks a rule exits with 1, and the rule is named with its place and its sentence",
  { timeout: 120_000 },
  async () => {
    const { code, stdout } = await conformance("--cwd", project.directory, "--", ...broken("v1-kinds"));
    expect(code).toBe(1);
    expect(stdout).toContain(
      '"available_skills_update" is no kind of ACP v1, and the client did not opt in [v1-kinds]',
    );
    expect(stdout).toMatch(/^v1-kinds: “.*” \(ACP\.md A-5\)$/m);
  },
);

test("an agent that cannot be started exits with 127, a wrong command line with 2", async () => {
  expect(await conformance("--", "no-such-agent")).toMatchObject({ code: 127, stdout: "" });
  expect(await conformance()).toMatchObject({ code: 2 });
  expect(await conformance("--replay", "no-such-file")).toMatchObject({ code: 2 });
  const wrong = await conformance("--replay", project.write("wrong.ndjson", '{"from":"agent","message":{}}\n{}\n'));
  expect(wrong.stderr).toContain('wrong.ndjson, line 2: "from" must be "client" or "agent"');
});

test(
  "a client that leaves a request unanswered is not conformant; the report is written to a file",
  { timeout: 60_000 },
  async () => {
    const report = project.at("report.xml");
    const transcript = at("schema/conformance/client-answers/fail-broken-client.ndjson");
    const { code } = await conformance("--replay", transcript, "--format", "junit", "--report", report);
    expect(code).toBe(1);
    expect(readFileSync(report, "utf8")).toMatch(
      /<failure type="client-answers" message="line \d+: _acp-skills\/conformance_probe/,
    );
  },
);
