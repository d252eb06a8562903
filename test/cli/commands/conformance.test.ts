import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { conformanceRules } from "../../../src/conformance/rules.ts";
import type { ConformanceReport } from "../../../src/conformance/report.ts";
import { binary, runCli, runProcess, unfolded } from "../run-cli.ts";
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
  const { connections, conformant } = JSON.parse(stdout) as ConformanceReport;
  expect([code, conformant]).toEqual([0, true]);
  expect(stdout).not.toContain("command-count");
  expect(connections.map(({ forms }) => forms.map(({ form }) => form).join())).toEqual([
    "plain commands",
    expect.stringMatching(
      /available_skills_update.*commands with _meta\["acp-skills"\]|commands with.*available_skills/,
    ),
    expect.stringContaining("_acp-skills/skills_update"),
    "",
    "",
  ]);
  expect(readFileSync(record, "utf8")).not.toContain(project.directory);
  const replayed = await runProcess(["conformance", "--replay", record], { cwd: project.directory });
  expect(replayed).toMatchObject({ code: 0 });
});

test(
  "our wrapper keeps to every rule of the RFD Agent Skills in ACP v2, invoked by blocks that it takes and refuses",
  { timeout: 120_000 },
  async () => {
    const agent = [process.execPath, at("test/agent/scripted-agent.js"), "v2", "http"];
    const wrapped = [process.execPath, binary, "--no-default-roots", "--skills", at("examples/skills"), "--", ...agent];
    const source = ["--source", "agent-skills-rfd"];
    const { code, stdout } = await conformance("--json", ...source, "--prompt", "say Done.", "--", ...wrapped);
    const { connections, conformant } = JSON.parse(stdout) as ConformanceReport;
    expect([code, conformant, connections.flatMap(({ findings }) => findings)]).toEqual([0, true, []]);
    const entries = connections.at(-1);
    expect(entries).toMatchObject({ name: "v2-skill", protocol: 2, forms: [{ form: "skill entries" }] });
    expect(stdout).not.toContain("no skill was invoked");
  },
);

test(
  "an agent that breaks a rule exits with 1, and the rule is named with its place and its sentence",
  { timeout: 120_000 },
  async () => {
    const { code, stdout } = await conformance("--cwd", project.directory, "--", ...broken("v1-kinds"));
    expect(code).toBe(1);
    expect(stdout).toContain('"skills_changed" is no kind of ACP v1, which has no others [acp: v1-kinds]');
    expect(stdout).toMatch(/^v1-kinds: “.*” \(ACP, Schema, “SessionUpdate”\)$/m);
  },
);

test("an agent that cannot be started exits with 127 or 126, a wrong command line with 2", async () => {
  expect(await conformance("--", "no-such-agent")).toMatchObject({ code: 127, stdout: "" });
  const file = project.write("agent.txt", "This is no program.\n");
  chmodSync(file, 0o644);
  expect(await conformance("--", file)).toMatchObject({ code: 126, stdout: "" });
  expect(await conformance()).toMatchObject({ code: 2 });
  expect(await conformance("--replay", "no-such-file")).toMatchObject({ code: 2 });
  const wrong = await conformance("--replay", project.write("wrong.ndjson", '{"from":"agent","message":{}}\n{}\n'));
  expect(unfolded(wrong.stderr)).toContain('wrong.ndjson, line 2: "from" must be "client" or "agent"');
});

test("rules of one source are checked alone, and a source that there is not is refused with those that there are", async () => {
  const transcript = at("schema/conformance/update-nested/fail-broken-agent.ndjson");
  const asked = await conformance("--replay", transcript, "--source", "acp-skills", "--format", "json");
  const report = JSON.parse(asked.stdout) as ConformanceReport;
  expect([asked.code, report.sources]).toEqual([1, ["acp-skills"]]);
  expect(report.connections[0]?.findings.map(({ rule, source }) => [rule, source])).toEqual([
    ["update-nested", "acp-skills"],
  ]);
  const others = ["--source", "rfd-370", "--source", "acp"];
  expect(await conformance("--replay", transcript, ...others)).toMatchObject({ code: 0 });
  const wrong = await conformance("--replay", transcript, "--source", "mcp");
  expect(wrong.code).toBe(2);
  expect(unfolded(wrong.stderr)).toContain(
    "--source needs acp, json-rpc, agent-skills-rfd, rfd-370 or acp-skills, not mcp",
  );
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

/** What the agent that `--client` plays does, in order. */
const steps = [
  "a list of two skills",
  "an edited skill",
  "an added and a removed skill",
  "texts in several scripts and directions",
  "a list of 1,000 skills",
  "the same list again",
  "entries that are no valid skills",
  "a list that is no array",
  "an update without its kind",
  "an update of an unknown kind",
  "the RFD's flat sample",
  "an update of an unknown session",
  "an unknown notification",
  "a line that is not JSON",
  "a list of one skill",
  "an empty list",
];

test.each([
  ["0.4.5", 1],
  ["2.4 v1", 1],
  ["2.4 v2", 2],
] as const)("typed clients of SDK %s survive every step", { timeout: 60_000 }, (generation, protocol) => {
  const report = project.at("report.json");
  const command = [process.execPath, binary, "conformance", "--client", "--format", "json", "--report", report];
  const { status } = spawnSync(process.execPath, [at("test/agent/sdk-client.js"), generation, ...command], {
    encoding: "utf8",
    timeout: 50_000,
  });
  expect(status).toBe(0);
  const { connections, ...totals } = JSON.parse(readFileSync(report, "utf8")) as ConformanceReport;
  expect(totals).toMatchObject({ subject: "client", conformant: true, errors: 0, warnings: 0 });
  expect(totals.verdicts.map(({ errors, warnings }) => errors + warnings)).toEqual([0, 0, 0, 0, 0]);
  expect(connections).toMatchObject([
    {
      ...{ protocol, findings: [], faults: [], clientMethods: { initialize: 1, "session/new": 1 } },
      optIn: { notification: false, deltas: false, commands: true },
    },
  ]);
  expect(connections[0]?.notes.filter((note) => note.startsWith("survived"))).toEqual(
    steps.map((step) => `survived ${step}`),
  );
  const most = (form: string): number | undefined => connections[0]?.forms.find((one) => one.form === form)?.most;
  expect(most("available_skills_update")).toBe(1000);
  expect(most('commands with _meta["acp-skills"]')).toBe(1000);
});

function playWith(script: string): ConformanceReport {
  const report = project.at("report.json");
  const command = [binary, "conformance", "--client", "--timeout", "1", "--format", "json", "--report", report];
  const client = `
    const agent = require("node:child_process").spawn(process.execPath, ${JSON.stringify(command)}, { stdio: ["pipe", "pipe", "inherit"] });
    const send = (message) => agent.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
    const lines = require("node:readline").createInterface({ input: agent.stdout });
    send({ id: 1, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } });
    send({ id: 2, method: "session/new", params: { cwd: "/project", mcpServers: [] } });
    ${script}`;
  spawnSync(process.execPath, ["-e", client], { timeout: 50_000 });
  return JSON.parse(readFileSync(report, "utf8")) as ConformanceReport;
}

test("a client that never answers is not conformant", { timeout: 60_000 }, () => {
  const report = playWith(
    `lines.on("line", (line) => line.includes("an empty list") || line.includes('"availableCommands":[]') ? setTimeout(() => agent.stdin.end(), 500) : undefined);`,
  );
  expect(report.conformant).toBe(false);
  expect(report.connections[0]?.faults.join()).toContain("the client does not answer a request of an extension");
});

test("a client that leaves early has no verdict: it is not finished", { timeout: 60_000 }, () => {
  const report = playWith(`
    let probes = 0;
    lines.on("line", (line) => {
      const { id, method } = line.startsWith("{") ? JSON.parse(line) : {};
      if (method === undefined || id === undefined) return;
      send({ id, error: { code: -32601, message: "Method not found" } });
      if (++probes === 4) agent.stdin.end();
    });`);
  expect(report.conformant).toBeNull();
  expect(report.connections[0]?.unfinished).toBe(
    "after texts in several scripts and directions, the client closed our stdin",
  );
});

const countCases = `
import json, sys, xml.etree.ElementTree as tree
suites = tree.parse(sys.argv[1]).getroot()
print(json.dumps([
  suites.tag, int(suites.get("tests")), int(suites.get("failures")),
  [[s.get("name"), int(s.get("tests")), len(s.findall("testcase")), int(s.get("failures")), len(s.findall("testcase/failure"))] for s in suites],
  [f.text for f in suites.iter("failure")],
]))`;
const hasPython = spawnSync("python3", ["--version"]).status === 0;

test.skipIf(!hasPython)("the JUnit report is XML, whatever the agent says, and its numbers are right", async () => {
  const nasty = "\u0000\u001b[31m ]]> <failure a=\"'&amp; \u202e \ufffe \ud800 é 🧪";
  const said = { from: "agent", text: nasty };
  const request = { from: "agent", message: { jsonrpc: "2.0", id: nasty, method: nasty } };
  const transcript = [said, request].map((line) => `${JSON.stringify(line)}\n`).join("");
  const [first, second] = [project.write("a & <b>.ndjson", transcript), project.write("c.ndjson", transcript)];
  const report = project.at("report.xml");
  const { code } = await conformance("--replay", first, second, "--format", "junit", "--report", report);
  expect(code).toBe(1);
  const printed = execFileSync("python3", ["-c", countCases, report], { encoding: "utf8" });
  const [tag, tests, failures, suites, texts] = JSON.parse(printed) as [string, number, number, unknown[][], string[]];
  const cases = conformanceRules.filter(({ source }) => source !== "acp-skills").length + 1;
  expect([tag, tests, failures]).toEqual(["testsuites", 2 * cases, texts.length]);
  expect(suites).toEqual([first, second].map((name) => [name, cases, cases, texts.length / 2, texts.length / 2]));
  expect(texts.join("\n")).toContain("]]> <failure a=");
});
