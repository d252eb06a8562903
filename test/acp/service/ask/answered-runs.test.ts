import { afterEach, beforeEach, expect, test } from "vitest";
import { skillText, useTemporaryProject } from "../../../cli/temporary-project.ts";
import { startAskingAgent } from "./asking-agent.ts";

const files = useTemporaryProject();
let project = "";
const open: Awaited<ReturnType<typeof startAskingAgent>>[] = [];
beforeEach(() => {
  project = files.at("project");
  for (const name of ["project", "home"]) files.write(`${name}/README.md`, "");
});
afterEach(async () => {
  for (const agent of open.splice(0)) await agent.close();
});

/** What the agent writes, as its script says. */
const raw = (update: object): string => {
  const params = { sessionId: "session-1", update };
  return `raw ${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params })}`;
};

async function start(...args: readonly string[]): Promise<Awaited<ReturnType<typeof startAskingAgent>>> {
  const agent = await startAskingAgent(project, {
    args: ["--skills", files.at("own"), ...args],
    home: files.at("home"),
  });
  open.push(agent);
  agent.answer(() => "reject_once");
  // A request waits for a sandbox that has not been tried yet, but not for long.
  await agent.prompt('tool run_code {"language":"python","code":"def main(): return 1"}');
  return agent;
}

/** An action below `own` or `project/.agents/skills`. */
function writeAction(root: "own" | "project/.agents/skills", name: string, permissions = ""): void {
  const manifest = `name = "${name}"\nversion = "1.0.0"\ndescription = "Acts."\nkind = "action"\n`;
  files.write(`${root}/${name}/SKILL.md`, skillText(name));
  const runtime = `[runtime]\nlanguage = "python"\nentrypoint = "main.py"\n${permissions}`;
  files.write(`${root}/${name}/skill.toml`, `${manifest}${runtime}`);
  files.write(`${root}/${name}/main.py`, "def main():\n    return {}\n");
}

const network = '[permissions]\nnetwork = ["https://api.example.com"]\n';
const permitRun = (name: string): string => `permit execute_skill {"name":"${name}"}`;
const permitCode = 'permit run_code {"language":"python","code":"def main(): return 1"}';
const allowed = '"optionId":"once"';
const told = "Allowed by acp-skills: it runs in a sandbox, without network, secrets or your files.";

test("a run that needs nothing beyond its sandbox is allowed for the person, which its call says", async () => {
  writeAction("own", "plain.one");
  const agent = await start();
  const update = {
    sessionUpdate: "tool_call",
    toolCallId: "call-execute_skill",
    name: "mcp__skills__execute_skill",
    kind: "other",
  };
  const call = raw({ ...update, title: "mcp__skills__execute_skill", rawInput: {} });
  expect(await agent.prompt(`${call}; ${permitRun("plain.one")}`)).toContain(allowed);
  expect(await agent.prompt(permitCode)).toContain(allowed);
  // We refuse it.
  expect(await agent.prompt(permitRun("unknown"))).toContain(allowed);
  expect(agent.asked).toEqual([]);
  expect(agent.received).toContainEqual({
    jsonrpc: "2.0",
    method: "session/update",
    params: {
      sessionId: "session-1",
      update: {
        sessionUpdate: "tool_call_update",
        toolCallId: "call-execute_skill",
        title: "Run skill plain.one",
        kind: "execute",
        content: [{ type: "content", content: { type: "text", text: told } }],
      },
    },
  });
});

test("requests for other runs reach the person", async () => {
  writeAction("own", "with.packages");
  files.write("own/with.packages/code/requirements.txt", "six\n");
  writeAction("project/.agents/skills", "of.project");
  const agent = await start();
  const calls = [
    permitRun("with.packages"),
    permitRun("of.project"),
    'permit execute_skill {"name":"with.packages","x":1}',
    "permit execute_skill {}",
    "permit run_code {}",
  ];
  for (const call of calls) expect(await agent.prompt(call)).toContain('"optionId":"no"');
  expect(agent.asked).toHaveLength(calls.length);
});

test("a skill of a project is run without a question once its texts may be read", async () => {
  writeAction("project/.agents/skills", "of.project");
  const agent = await start();
  agent.answer(() => "allow_always");
  await agent.prompt('tool read_skill_file {"name":"of.project","path":"SKILL.md"}');
  expect(agent.asked).toHaveLength(1);
  expect(await agent.prompt(permitRun("of.project"))).toContain(allowed);
  expect(agent.asked).toHaveLength(1);
});

test("nothing is answered for a person who answered not now, or does not want that", async () => {
  writeAction("own", "plain.one", network);
  const agent = await start();
  await agent.prompt('tool execute_skill {"name":"plain.one"}');
  expect(agent.asked).toHaveLength(1);
  // Its next version needs nothing any more.
  writeAction("own", "plain.one");
  await expect.poll(() => agent.prompt('tool describe_skill {"name":"plain.one"}')).not.toContain("api.example.com");
  expect(await agent.prompt(permitRun("plain.one"))).toContain('"optionId":"no"');
  const other = await start("--no-answer-permissions");
  for (const call of [permitRun("plain.one"), permitCode])
    expect(await other.prompt(call)).toContain('"optionId":"no"');
});

test("a policy that wants a word about every run is asked by us, and code of the model by the agent", async () => {
  writeAction("own", "plain.one");
  files.write("project/acp-skills.policy.json", JSON.stringify({ runs: "ask" }));
  const agent = await start();
  expect(await agent.prompt(permitRun("plain.one"))).toContain(allowed);
  expect(agent.asked).toEqual([]);
  await agent.prompt('tool execute_skill {"name":"plain.one"}');
  expect(agent.asked).toMatchObject([{ toolCall: { title: expect.stringContaining("run plain.one") as string } }]);
  expect(await agent.prompt(permitCode)).toContain('"optionId":"no"');
});

test("a day of 50 calls and 24 skills has two questions, both ours", { timeout: 60_000 }, async () => {
  const names = Array.from({ length: 23 }, (_, index) => `plain.a${index}`);
  for (const name of names) writeAction("project/.agents/skills", name);
  writeAction("project/.agents/skills", "net.one", network);
  const agent = await start();
  agent.answer(() => "allow_always");
  const read = (name: string): string => `tool read_skill_file {"name":"${name}","path":"SKILL.md"}`;
  const run = (name: string): string => `${permitRun(name)}; tool execute_skill {"name":"${name}"}`;
  const calls = ["net.one", ...names].flatMap((name) => [read(name), run(name)]);
  for (const call of [...calls, permitCode, run("net.one")]) await agent.prompt(call);
  expect(agent.asked.map(({ toolCall }) => toolCall.title)).toEqual([
    expect.stringContaining("Let the model read the instructions of net.one"),
    expect.stringContaining("run net.one"),
  ]);
});

test.each(["abc-1", "id/with/slashes"])(
  "the reason of a refusal is shown where only the id %s says whose it is",
  async (toolCallId) => {
    const name = "@agentclientprotocol/codex-acp";
    const agent = await startAskingAgent(project, { name, home: files.at("home") });
    open.push(agent);
    const rawInput = { server: "skills", tool: "execute_skill", arguments: { name: "net.two" } };
    const begun = raw({
      sessionUpdate: "tool_call",
      toolCallId,
      title: "mcp.skills.execute_skill",
      kind: "other",
      rawInput,
    });
    const error = { code: -32001, message: "The user answered: not now.", data: { code: "PERMISSION_DENIED" } };
    const rawOutput = { result: { content: [{ type: "text", text: JSON.stringify(error) }], isError: true } };
    const ended = raw({ sessionUpdate: "tool_call_update", toolCallId, status: "failed", rawOutput });
    await agent.prompt(`${begun}; ${ended}`);
    const updates = agent.received.map(({ params }) => (params as { update?: object } | undefined)?.update);
    expect(updates).toContainEqual(
      expect.objectContaining({
        toolCallId,
        status: "failed",
        title: "Run skill net.two failed (The user answered: not now)",
        content: [{ type: "content", content: { type: "text", text: "The user answered: not now." } }],
      }),
    );
  },
);
