import * as v2 from "@agentclientprotocol/sdk/experimental/v2";
import { expect, test } from "vitest";
import { createDeferred } from "../../src/base/promises.ts";
import { interceptStream } from "../../src/acp/relay/intercept-stream.ts";
import { openLocalService } from "../../src/acp/service/local-service.ts";
import { readOptions } from "../../src/runtime/options.ts";
import { manualClock } from "../manual-clock.ts";
import { type Conversation, clients, converse, prompt } from "./conversation.ts";
import { memorySkillset, offer } from "./memory-skillset.ts";
import { streamPair } from "./stream-pair.ts";

const takesBlocks = { session: { prompt: { skill: { inline: {} } } } };

/** A conversation in ACP v2 in which session `s` was just opened; the agent listed these commands. */
async function converseV2(
  capabilities: unknown = clients.skillEntries,
  {
    agent = {},
    commands = [],
    ...options
  }: Parameters<typeof converse>[0] & { agent?: object; commands?: object[] } = {},
): Promise<Conversation> {
  const conversation = converse(options);
  await conversation.exchange(
    "initialize",
    { protocolVersion: 2, capabilities },
    { protocolVersion: 2, capabilities: agent },
  );
  await conversation.exchange("session/new", { cwd: "/project" }, { sessionId: "s", availableCommands: commands });
  await conversation.settle();
  return conversation;
}

const command = (name: string, description: string): object => ({ type: "command", name, description });
const skill = (name: unknown): object => ({ type: "skill", name });
const entry = (name: string): object => ({
  type: "skill",
  name,
  description: `What ${name} does.`,
  path: `/skills/${name}/SKILL.md`,
});
const listed = ({ take }: Conversation): unknown => take("available_commands_update").at(-1)?.["availableCommands"];
const promptOf = ({ atAgent }: Conversation): readonly Record<string, unknown>[] =>
  (atAgent.at(-1)?.params as { prompt: Record<string, unknown>[] }).prompt;

test("tells a client that takes skill entries its skills as entries only, and says that blocks are taken anywhere", async () => {
  const conversation = await converseV2();
  expect(conversation.atEditor[0]).toMatchObject({ result: { capabilities: takesBlocks } });
  const updates = conversation.take();
  expect(updates).toEqual([
    { sessionUpdate: "available_commands_update", availableCommands: [entry("pdf"), entry("csv")] },
  ]);
});

test("sends a changed list of entries during the session", async () => {
  const conversation = await converseV2();
  listed(conversation);
  conversation.skillset.set([offer("pdf", { description: "New." }), offer("zip")]);
  expect(listed(conversation)).toEqual([{ ...entry("pdf"), description: "New." }, entry("zip")]);
});

test("tells other v2 clients the same skills as plain commands, which stay as they were", async () => {
  for (const capabilities of [{}, { session: { commands: {} } }, { session: { commands: { skill: null } } }]) {
    const list = listed(await converseV2(capabilities));
    expect(list).toMatchObject([
      { type: "command", name: "pdf", input: { type: "text" } },
      { type: "command", name: "csv" },
    ]);
    expect(JSON.stringify(list)).not.toContain('"path"');
  }
});

test("warns once about a capability of the wrong type, and tells skills as plain commands", async () => {
  const conversation = await converseV2({ session: { commands: { skill: true } } });
  expect(listed(conversation)).toMatchObject([{ type: "command" }, { type: "command" }]);
  expect(conversation.logged.filter((line) => line.includes("session.commands.skill"))).toHaveLength(1);
});

test("tells no client a skill in two forms, unless it asks for commands too", async () => {
  const kinds = async (capabilities: object): Promise<unknown[]> =>
    (await converseV2(capabilities)).take().map(({ sessionUpdate }) => sessionUpdate);
  const { session } = clients.skillEntries;
  expect(await kinds({ session })).toEqual(["available_commands_update"]);
  expect(await kinds({ session: { ...session, skills: {} } })).toEqual(["available_skills_update"]);
  expect(await kinds({ session: { ...session, skills: { commands: true } } })).toEqual([
    "available_skills_update",
    "available_commands_update",
  ]);
});

test("shows a skill that the agent shows itself once, under the agent's name", async () => {
  const commands = [command("init", "The agent's."), command("$pdf", "What pdf does.")];
  const conversation = await converseV2(clients.skillEntries, { commands });
  expect(listed(conversation)).toEqual([commands[0], { ...entry("pdf"), name: "$pdf" }, entry("csv")]);
});

test("replaces a block by the words and the skill's text, wherever it stands", async () => {
  const conversation = await converseV2();
  await conversation.editor(prompt(skill("pdf"), "read a.pdf"));
  expect(promptOf(conversation)).toMatchObject([
    { type: "text", text: 'Use the skill "pdf": read a.pdf\n\n' },
    { type: "text", text: expect.stringContaining("Do it well.") as unknown },
  ]);
  await conversation.editor(prompt("First", skill("csv"), "then", skill("csv")));
  expect(promptOf(conversation).map(({ text }) => String(text).slice(0, 25))).toEqual([
    "First",
    'Use the skill "csv".\n\n',
    "<q7x2m9-acp-skills skill=",
    "then",
    'Use the skill "csv".\n\n',
  ]);
});

test("takes a block beside a typed invocation", async () => {
  const conversation = await converseV2();
  await conversation.editor(prompt("/pdf read", skill("csv")));
  expect(promptOf(conversation).map(({ text }) => String(text).replace(/skill="(\w+)"[^]*/, "$1"))).toEqual([
    'Use the skill "pdf": read\n\n',
    "<q7x2m9-acp-skills pdf",
    'Use the skill "csv".\n\n',
    "<q7x2m9-acp-skills csv",
  ]);
});

test("takes blocks before and after a typed invocation, and keeps what stands between", async () => {
  const conversation = await converseV2();
  const image = { type: "image", data: "AAAA", mimeType: "image/png" };
  await conversation.editor(prompt(image, skill("csv"), "/pdf read", image, skill("csv")));
  const said = promptOf(conversation).map(({ text, type }) => String(typeof text === "string" ? text : type));
  expect(said.map((text) => text.replace(/skill="(\w+)"[^]*/, "$1"))).toEqual([
    "image",
    'Use the skill "csv".\n\n',
    "<q7x2m9-acp-skills csv",
    'Use the skill "pdf": read\n\n',
    "<q7x2m9-acp-skills pdf",
    "image",
    'Use the skill "csv".\n\n',
  ]);
});

test.each<[string, object, RegExp]>([
  ["an unknown skill", skill("nope"), /^prompt\/1: there is no skill nope in this session's list of commands\./],
  ["a skill without a name", { type: "skill" }, /^prompt\/1: a skill block needs the name of a skill/],
  ["a path", skill("/skills/pdf/SKILL.md"), /^prompt\/1: there is no skill \/skills\/pdf\/SKILL\.md/],
  ["a skill that only models may use", skill("hidden"), /^prompt\/1: there is no skill hidden/],
  ["a command of the agent", skill("init"), /^prompt\/1: there is no skill init/],
  ["a skill behind a command of the agent", skill("csv"), /^prompt\/1: the skill csv cannot be invoked: the agent has/],
])("answers a prompt with a block of %s by an error, and chat goes on", async (_case, block, message) => {
  const conversation = await converseV2(clients.skillEntries, {
    skillset: memorySkillset([offer("pdf"), offer("csv"), offer("hidden", { userInvocable: false })]),
    commands: [command("init", "The agent's."), command("csv", "Opens the agent's own table.")],
  });
  const before = conversation.atAgent.length;
  await conversation.editor(prompt("use", block));
  expect(conversation.atAgent).toHaveLength(before);
  const error = { code: -32602, message: expect.stringMatching(message) as unknown };
  expect(conversation.atEditor.at(-1)).toEqual({ jsonrpc: "2.0", id: 1000, error });
  expect(conversation.logged.filter((line) => line.startsWith("warning: A prompt was refused."))).toHaveLength(1);
  await conversation.editor(prompt("hello"));
  expect(promptOf(conversation)).toEqual([{ type: "text", text: "hello" }]);
});

test.each<[string, () => Promise<never>, string]>([
  ["not read in time", () => new Promise(() => undefined), "it was not read within 5 s; send the prompt again"],
  ["unreadable", () => Promise.reject(new Error("EIO")), "Cannot read skill pdf: Error: EIO"],
])("says of a block whose skill is %s why nothing was sent", async (_case, readInstructions, why) => {
  const conversation = await converseV2(clients.skillEntries, { readInstructions });
  const before = conversation.atAgent.length;
  const sent = conversation.editor(prompt(skill("pdf")));
  await new Promise(setImmediate);
  conversation.clock.pass(5_000);
  await sent;
  expect(conversation.atAgent).toHaveLength(before);
  const message = `prompt/0: the skill pdf cannot be invoked: ${why}. Nothing was sent to the agent.`;
  expect(conversation.atEditor.at(-1)).toMatchObject({ id: 1000, error: { code: -32602, message } });
});

test("refuses a skill of another session", async () => {
  const one = await converseV2();
  const other = await converseV2(clients.skillEntries, { skillset: memorySkillset([offer("zip")]) });
  await one.editor(prompt(skill("zip")));
  expect(one.atEditor.at(-1)).toMatchObject({ error: { code: -32602 } });
  await other.editor(prompt(skill("zip")));
  expect(promptOf(other)).toHaveLength(2);
});

test("leaves blocks to an agent that takes them itself, but for our skills, and what it declares as it is", async () => {
  const agent = { session: { prompt: { skill: {} } } };
  const commands = [{ type: "skill", name: "theirs", description: "The agent's own." }];
  const conversation = await converseV2(clients.skillEntries, { agent, commands });
  expect((conversation.atEditor[0]?.result as { capabilities: object }).capabilities).toMatchObject(agent);
  expect(JSON.stringify(conversation.atEditor[0])).not.toContain("inline");
  expect(listed(conversation)).toEqual([commands[0], entry("pdf"), entry("csv")]);
  await conversation.editor(prompt(skill("theirs"), "x"));
  expect(promptOf(conversation)).toEqual([skill("theirs"), { type: "text", text: "x" }]);
  await conversation.editor(prompt(skill("pdf"), "x"));
  expect(promptOf(conversation)).toMatchObject([{ text: 'Use the skill "pdf": x\n\n' }, {}]);
});

test("leaves blocks of ACP v1, and with --announce none, to the agent", async () => {
  const v1 = converse();
  await v1.exchange("initialize", { protocolVersion: 1 }, { protocolVersion: 1, agentCapabilities: {} });
  await v1.exchange("session/new", { cwd: "/project" }, { sessionId: "s" });
  for (const conversation of [v1, await converseV2(clients.skillEntries, { announce: "none" })]) {
    await conversation.editor(prompt(skill("pdf")));
    expect(promptOf(conversation)).toEqual([skill("pdf")]);
  }
});

test("takes entries to a typed SDK client and its blocks to a typed SDK agent", async () => {
  const prompts: v2.PromptRequest["prompt"][] = [];
  const agent = v2
    .agent({ name: "agent" })
    .onRequest("initialize", () => ({
      protocolVersion: 2 as const,
      info: { name: "agent", version: "1" },
      capabilities: { session: { prompt: { skill: {} } } } as v2.AgentCapabilities,
    }))
    .onRequest("session/new", () => ({ sessionId: "s" }))
    .onRequest("session/prompt", ({ params }) => {
      prompts.push(params.prompt);
      return { messageId: "m" };
    });
  const [editorSide, agentSide] = streamPair();
  const settings = readOptions({ tools: "none" }, { clock: manualClock() });
  const service = openLocalService(settings, { skillset: memorySkillset([offer("pdf")]) });
  agent.connect(interceptStream(agentSide, service, settings));
  const { promise: told, resolve } = createDeferred<unknown>();
  const editor = v2
    .client({ name: "editor" })
    .onNotification("session/update", ({ params: { update } }) => {
      if (update.sessionUpdate === "available_commands_update") resolve(update["availableCommands"]);
    })
    .connect(editorSide).agent;
  await editor.request("initialize", {
    protocolVersion: 2,
    info: { name: "editor", version: "1" },
    capabilities: { session: { commands: { skill: {} } } } as v2.ClientCapabilities,
  });
  await editor.request("session/new", { cwd: "/p", mcpServers: [] });
  await editor.request("session/prompt", {
    sessionId: "s",
    prompt: [skill("theirs") as unknown as v2.ContentBlock, { type: "text", text: "hello" }],
  });
  expect(await told).toEqual([entry("pdf")]);
  expect(prompts).toEqual([[skill("theirs"), { type: "text", text: "hello" }]]);
});
