import { symlinkSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { runCli } from "../../cli/run-cli.ts";
import { useTemporaryProject } from "../../cli/temporary-project.ts";
import { type AskingAgent, bash, type EditorAnswer, startAskingAgent } from "./asking-agent.ts";

const project = useTemporaryProject();
const open: AskingAgent[] = [];

afterEach(async () => {
  for (const agent of open.splice(0)) await agent.close();
});

function writeSkill(name: string, tools: string, text = "Do it."): void {
  const lines = [`name: ${name}`, `description: Does ${name}.`, `allowed-tools: ${tools}`];
  project.write(`home/${name}/SKILL.md`, `---\n${lines.join("\n")}\n---\n\n${text}\n`);
}

async function start(options: Parameters<typeof startAskingAgent>[1] = {}): Promise<AskingAgent> {
  const args = ["--skills", project.at("home"), ...(options.args ?? [])];
  const agent = await startAskingAgent(project.directory, { ...options, args });
  open.push(agent);
  return agent;
}

const outcomes = (said: string): readonly unknown[] =>
  [...said.matchAll(/\{"outcome":\{[^}]*\}\}/g)].map(([text]) => {
    const { outcome } = JSON.parse(text) as { outcome: { outcome: string; optionId?: string } };
    return outcome.optionId ?? outcome.outcome;
  });

const kinds = ["allow_once", "allow_always", "reject_once", "reject_always"];
const ofAgent = ["always", "once", "no"];

test("asks once about the tools of an active skill, then answers for the user, until the next prompt", async () => {
  writeSkill("deploy", "Bash(git:*)");
  const agent = await start();
  agent.answer(() => "allow_always");
  const turn = [bash("git status"), bash("git log --oneline -5"), bash("git log | sh")].join("; ");
  const said = await agent.prompt(`/deploy now; ${turn}`);
  expect(outcomes(said)).toEqual(["once", "once", "always"]);
  const [first, second] = agent.asked;
  expect(first?.options.map(({ kind }) => kind)).toEqual(kinds);
  expect(first?.options.map(({ name }) => name)).toEqual([
    "Run once",
    "Trust this exact version",
    "Not now",
    "Block this skill",
  ]);
  expect(first?.toolCall.title).toMatch(
    /^Agent tools \(run harmless "git" commands without asking, the rest is asked\): for deploy 0\.0\.0 \([0-9a-f]{12}\); now: Bash\(git status\)$/,
  );
  expect(first?.toolCall).toMatchObject({ rawInput: { command: "git status" }, kind: "execute", name: "Bash" });
  // A compound command is the agent's own question.
  expect(second?.toolCall.title).toBe("git log | sh");
  expect(second?.options.map(({ optionId }) => optionId)).toEqual(ofAgent);
  expect(agent.asked).toHaveLength(2);
  const shown = agent.received.filter((message) => JSON.stringify(message).includes('"allowed"'));
  expect(shown).toMatchObject([
    {
      params: {
        update: { sessionUpdate: "tool_call_update", _meta: { "acp-skills": { allowed: { name: "deploy" } } } },
      },
    },
  ]);

  agent.answer(() => "reject_once");
  expect(outcomes(await agent.prompt(bash("git status")))).toEqual(["no"]);
  expect(agent.asked.at(-1)?.toolCall.title).toBe("git status");
  expect(outcomes(await agent.prompt(`/deploy now; ${bash("git diff")}`))).toEqual(["once"]);
  expect(agent.asked).toHaveLength(3);

  const { stdout } = await runCli(["ledger", "--json"], { cwd: project.directory });
  const { uses } = JSON.parse(stdout) as { uses: readonly Record<string, unknown>[] };
  const entries = uses.filter(({ event }) => typeof event === "string");
  expect(entries.map(({ event, tool, outcome, skill }) => [event, tool, outcome, skill])).toEqual([
    ["ask", "Bash", "asked", "deploy"],
    ["answer", "Bash", "allowed", "deploy"],
    ["permission", "Bash", "allowed", "deploy"],
    ["permission", "Bash", "allowed", "deploy"],
  ]);
});

test("asks again about a changed skill and shows the change, and about a revoked one", async () => {
  writeSkill("deploy", "Bash(git:*)");
  const agent = await start();
  agent.answer(() => "allow_always");
  await agent.prompt(`/deploy now; ${bash("git status")}`);
  writeSkill("deploy", "Bash(git:*)", "Do something else.");
  const said = await agent.prompt(`/deploy now; ${bash("git status")}; ${bash("git log")}`);
  expect(outcomes(said)).toEqual(["once", "once"]);
  expect(agent.asked).toHaveLength(2);
  const changed = agent.asked[1]?.toolCall;
  expect(changed?.title).toContain("changed since 0.0.0");
  expect(changed?.content).toContainEqual(expect.objectContaining({ type: "diff" }));
  expect(JSON.stringify(changed?.content)).toContain("Do something else.");

  const { code } = await runCli(["approvals", "revoke", "deploy", "--skills", project.at("home")], {
    cwd: project.directory,
  });
  expect(code).toBe(0);
  await agent.prompt(`/deploy now; ${bash("git status")}`);
  expect(agent.asked).toHaveLength(3);
});

test("what a person answers with is what the agent gets", async () => {
  writeSkill("deploy", "Bash(git:*)");
  const agent = await start();
  const answers: readonly [EditorAnswer, unknown][] = [
    ["allow_once", "once"],
    [{ result: { outcome: { outcome: "cancelled" } } }, "cancelled"],
    [{ result: { outcome: { outcome: "selected", optionId: "once" } } }, "no"],
    ["reject_once", "no"],
  ];
  for (const [answer, outcome] of answers) {
    agent.answer(() => answer);
    expect(outcomes(await agent.prompt(`/deploy now; ${bash("git status")}`))).toEqual([outcome]);
    expect(agent.asked.at(-1)?.options.map(({ kind }) => kind)).toEqual(kinds);
  }
  agent.answer(() => "reject_once");
  expect(outcomes(await agent.prompt(`/deploy now; ${bash("git status")}; ${bash("git log")}`))).toEqual(["no", "no"]);
  // Refused until the next prompt: the agent asks for itself.
  expect(agent.asked.at(-1)?.toolCall.title).toBe("git log");
  agent.answer(() => "reject_always");
  await agent.prompt(`/deploy now; ${bash("git status")}`);
  agent.answer(() => "allow_once");
  await agent.prompt(`/deploy now; ${bash("git status")}`);
  expect(agent.asked.at(-1)?.toolCall.title).toBe("git status");
});

test("a skill is active when the model has read it", async () => {
  writeSkill("deploy", "Bash(git:*) Read");
  const agent = await start();
  agent.answer(() => "allow_always");
  await agent.prompt(`tool describe_skill {"name":"deploy"}; ${bash("git status")}`);
  expect(agent.asked.at(-1)?.toolCall.title).toBe("git status");
  await agent.prompt(`tool describe_skill {"name":"deploy","detail":"full"}; ${bash("git status")}`);
  expect(agent.asked.at(-1)?.toolCall.title).toContain("deploy");
  await agent.prompt(`tool read_skill_file {"name":"deploy","path":"SKILL.md"}; ${bash("git log")}`);
  expect(agent.asked).toHaveLength(2);
});

test.each<[string, Parameters<typeof startAskingAgent>[1], string]>([
  ["with --no-approve", { args: ["--no-approve"] }, bash("git status")],
  ["of an agent whose requests are not known", { name: "scripted" }, bash("git status")],
  ["whose title is not its command", {}, bash("git status", { rawInput: { command: "rm -rf ~" } })],
  ["for a tool that no active skill lists", {}, bash("ls")],
  ["that is not complete", {}, bash("git status", { rawInput: { command: "git status", unknown: true } })],
])("a request %s reaches the editor as it is", async (_what, options, request) => {
  writeSkill("deploy", "Bash(git:*)");
  const agent = await start(options);
  await agent.prompt(`/deploy now; ${request}`);
  expect(agent.asked.map(({ options: offered }) => offered.map(({ optionId }) => optionId))).toEqual([ofAgent]);
});

test("asks in ACP v2", async () => {
  writeSkill("deploy", "Bash(git:*)");
  const agent = await start({ isV2: true });
  agent.answer(() => "allow_always");
  const said = await agent.prompt(`/deploy now; ${bash("git status")}; ${bash("git log")}`);
  expect(outcomes(said)).toEqual(["once", "once"]);
  expect(agent.asked).toHaveLength(1);
  expect(agent.asked[0]?.title).toBe(agent.asked[0]?.subject?.toolCall.title);
  expect(agent.asked[0]?.title).toContain("deploy");
});

test("files are those of the session's directories, and links lead nowhere", async () => {
  writeSkill("notes", "Edit(*.txt) Edit(new/**) Edit(etc/**) Edit(dangling)");
  project.write("a.txt", "a");
  const agent = await start();
  agent.answer(() => "allow_always");
  const edit = (file: string): string => {
    const fields = { name: "Edit", title: "Edit", kind: "edit", locations: [{ path: file }], content: [] };
    return `use ${JSON.stringify({ ...fields, rawInput: { file_path: file, old_string: "a", new_string: "b" } })}`;
  };
  await agent.prompt(`/notes now; ${edit(project.at("a.txt"))}; ${edit(project.at("new/b.txt"))}`);
  expect(agent.asked).toHaveLength(1);
  symlinkSync("/nowhere/at/all", project.at("dangling"));
  symlinkSync("/etc", project.at("etc"));
  const outside = ["/etc/passwd", project.at("etc/passwd"), project.at("dangling"), project.at(".env")];
  await agent.prompt(`/notes now; ${outside.map(edit).join("; ")}`);
  expect(agent.asked.slice(1).map(({ toolCall }) => toolCall.title)).toEqual(outside.map(() => "Edit"));
});
