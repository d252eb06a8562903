import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { Interceptor } from "../../../src/acp/relay/interceptor.ts";
import { openLocalService } from "../../../src/acp/service/local-service.ts";
import { readOptions } from "../../../src/runtime/options.ts";
import type { Skill } from "../../../src/skills/skill.ts";
import { clients, converse, converseInSession, listCommands, type Message, prompt } from "../conversation.ts";
import { fakeService } from "../fake-service.ts";
import { SkillEnvironments } from "../../../src/skills/environment.ts";
import { readDeclared } from "../../../src/skills/environment/read-declared.ts";
import { memoryMachine } from "../../skills/environment/memory-machine.ts";
import { manualClock } from "../../manual-clock.ts";
import { silentLog } from "../../../src/base/log.ts";
import { fakeTools } from "../fake-tools.ts";
import { memorySkillset, offer } from "../memory-skillset.ts";

const commandNames = (update: Record<string, unknown> | undefined): string[] =>
  ((update?.["availableCommands"] ?? []) as { name: string }[]).map(({ name }) => name);

test("adds the advertisement to the initialize response and keeps the other fields", async () => {
  const { exchange, atEditor } = converse();
  const agentCapabilities = { loadSession: true, _meta: { other: 1 } };
  await exchange("initialize", { protocolVersion: 1 }, { protocolVersion: 1, agentCapabilities });
  expect(atEditor[0]?.result).toEqual({
    protocolVersion: 1,
    agentCapabilities: {
      loadSession: true,
      _meta: { other: 1, "acp-skills": { version: "9.9.9", tools: [], update: ["available_commands_update"] } },
    },
  });
});

const requiring = (...bins: string[]): Partial<Skill> => ({ requires: readDeclared({ requires: { bins } })! });

/** Environments on a machine that has only git, and a wait until they are known. */
function environmentsWithGit() {
  const machine = memoryMachine({ programs: { git: {} } });
  const environments = new SkillEnvironments({ clock: manualClock(), log: silentLog, openMachine: () => machine });
  const known = async (skill: Skill): Promise<void> => {
    while (environments.of(skill) === undefined) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { environments, known };
}

test("says with each skill whether this machine has what it requires", async () => {
  const skills = [
    offer("s0", requiring("git")),
    offer("s1", requiring("git", "uv")),
    offer("s2", { compatibility: "Requires git" }),
    offer("s3"),
  ];
  const { environments, known } = environmentsWithGit();
  const { settle, take } = await converseInSession(clients.optedIn, { skillset: memorySkillset(skills), environments });
  for (const { skill } of skills.slice(0, 3)) await known(skill);
  await settle();
  const updates = take();
  const expected = [{ status: "met" }, { status: "missing", missing: ["uv"] }, { status: "unknown" }, undefined];
  const told = (items: unknown): unknown[] =>
    (items as { _meta: Record<string, Record<string, unknown>> }[]).map(
      ({ _meta }) => _meta["acp-skills"]?.["environment"],
    );
  expect(told(updates[0]?.["availableSkills"])).toEqual(expected);
  expect(told(updates[1]?.["availableCommands"])).toEqual(expected);
});

const [met, missing] = [offer("a", requiring("git")), offer("b", requiring("uv"))];

test("sends the first list with what the machine has, and later ones again if something is missing", async () => {
  const { environments, known } = environmentsWithGit();
  const skillset = memorySkillset([met]);
  const { settle, take } = await converseInSession(clients.optedIn, { skillset, environments });
  await settle();
  expect(take("available_commands_update")).toEqual([]);
  await known(met.skill);
  const [first, ...more] = take("available_commands_update");
  expect(JSON.stringify(first)).toContain('"environment":{"status":"met"}');
  expect(more).toEqual([]);
  skillset.set([met, missing]);
  expect(JSON.stringify(take())).not.toContain('uv"]');
  await known(missing.skill);
  const updates = take("available_commands_update");
  expect(updates.map(commandNames)).toEqual([["a", "b"]]);
  expect(JSON.stringify(updates)).toContain('"environment":{"status":"missing","missing":["uv"]}');
});

test("waits for what the machine has for a second, and not after the first prompt", async () => {
  const never = new SkillEnvironments({
    clock: manualClock(),
    log: silentLog,
    openMachine: () => memoryMachine(),
    findSandbox: () => new Promise(() => undefined),
  });
  const options = (): Parameters<typeof converseInSession>[1] => ({
    skillset: memorySkillset([offer("a", { metadata: { "acp-skills-project": "read" } })]),
    environments: never,
  });
  const slow = await converseInSession(clients.optedIn, options());
  await slow.settle();
  slow.clock.pass(949);
  expect(slow.take()).toEqual([]);
  slow.clock.pass(1);
  expect(slow.take("available_skills_update")).toHaveLength(1);
  const quick = await converseInSession(clients.optedIn, options());
  await quick.exchange("session/prompt", prompt("hello").params, { stopReason: "end_turn" });
  expect(quick.take("available_skills_update")).toHaveLength(1);
});

test("sends an editor that said nothing about skills one list, whatever the machine has", async () => {
  const { environments, known } = environmentsWithGit();
  const skillset = memorySkillset([met, missing]);
  const { settle, take, agent, atEditor } = await converseInSession({}, { skillset, environments });
  await settle();
  agent(listCommands("init"));
  expect(JSON.stringify(atEditor.filter(({ method }) => method === "session/update"))).not.toContain("_meta");
  expect(take().map(commandNames)).toEqual([
    ["a", "b"],
    ["init", "a", "b"],
  ]);
  await known(missing.skill);
  expect(take()).toEqual([]);
});

test("looks nothing up on this machine for an editor that is not sent what it has", async () => {
  let opened = 0;
  const openMachine = (): ReturnType<typeof memoryMachine> => {
    opened++;
    return memoryMachine({ programs: { git: {} } });
  };
  for (const [client, expected] of [[{}, 0] as const, [clients.optedIn, 1] as const]) {
    const environments = new SkillEnvironments({ clock: manualClock(), log: silentLog, openMachine });
    const { settle } = await converseInSession(client, { skillset: memorySkillset([met]), environments });
    await settle();
    await new Promise((resolve) => setImmediate(resolve));
    expect(opened).toBe(expected);
  }
});

test("sends nothing until 50 ms after the session's response", async () => {
  const conversation = await converseInSession();
  expect(conversation.take()).toEqual([]);
  conversation.clock.pass(49);
  await Promise.resolve();
  expect(conversation.take()).toEqual([]);
  conversation.clock.pass(1);
  expect(conversation.take("available_commands_update").map(commandNames)).toEqual([["pdf", "csv"]]);
});

test("sends skills that are read after the 50 ms as soon as they are read", async () => {
  const skillset = memorySkillset([offer("pdf")], { isReady: false });
  const { settle, take } = await converseInSession({}, { skillset });
  await settle();
  expect(take()).toEqual([]);
  await skillset.becomeReady();
  expect(take().map(commandNames)).toEqual([["pdf"]]);
});

test("sends a change once, and only if it changes what the editor sees", async () => {
  const { settle, take, skillset } = await converseInSession(clients.optedIn);
  await settle();
  take();
  skillset.set([offer("pdf"), offer("csv")]);
  expect(take()).toEqual([]);
  skillset.set([offer("pdf")]);
  expect(take().map(({ sessionUpdate }) => sessionUpdate)).toEqual([
    "available_skills_update",
    "available_commands_update",
  ]);
  skillset.set([]);
  expect(take()).toMatchObject([{ availableSkills: [] }, { availableCommands: [] }]);
});

test("sends the commands when only they change, without the list of skills", async () => {
  const facts = { name: "pdf", version: "1.0.0", description: "What pdf does.", kind: "instruction" } as const;
  const input = (name: string): Partial<Skill> => ({ manifest: { ...facts, inputs: { [name]: { type: "string" } } } });
  const skillset = memorySkillset([offer("pdf", input("page"))]);
  const { settle, take } = await converseInSession(clients.optedIn, { skillset });
  await settle();
  take();
  skillset.set([offer("pdf", input("range"))]);
  expect(take()).toMatchObject([{ availableCommands: [{ input: { hint: "[range]" } }] }]);
});

test("sends JetBrains the new path of a skill even if nothing else changed", async () => {
  const { settle, take, skillset } = await converseInSession(clients.jetbrains);
  await settle();
  take();
  const file = "/skills/moved/SKILL.md";
  skillset.set([offer("pdf", { file }), offer("csv")]);
  expect(take()).toMatchObject([{ availableCommands: [{ _meta: { jetbrains: { air: { skillPath: file } } } }, {}] }]);
});

test("sends an empty list of skills only to an editor that opted in", async () => {
  const plain = await converseInSession({}, { skillset: memorySkillset() });
  await plain.settle();
  await plain.editor(prompt("hello"));
  expect(plain.take()).toEqual([]);
  const asked = await converseInSession(clients.optedIn, { skillset: memorySkillset() });
  await asked.settle();
  expect(asked.take()).toEqual([{ sessionUpdate: "available_skills_update", availableSkills: [] }]);
});

test("repeats the commands at the first prompt for an editor that did not opt in", async () => {
  const { settle, take, editor } = await converseInSession();
  await settle();
  take();
  await editor(prompt("hello"));
  expect(take().map(commandNames)).toEqual([["pdf", "csv"]]);
  await editor(prompt("hello again"));
  expect(take()).toEqual([]);
});

test("does not repeat the skills for an editor that opted in", async () => {
  const { settle, take, editor } = await converseInSession(clients.optedIn);
  await settle();
  expect(take()).toHaveLength(2);
  await editor(prompt("hello"));
  expect(take()).toEqual([]);
});

test("merges skills into the agent's list of commands, and again when skills change", async () => {
  const { settle, take, agent, skillset } = await converseInSession(clients.optedIn);
  await settle();
  take();
  agent(listCommands("init", "$pdf"));
  const [merged] = take();
  expect(commandNames(merged)).toEqual(["init", "$pdf", "csv"]);
  expect(merged?.["availableCommands"]).toMatchObject([{}, { _meta: { "acp-skills": { slug: "pdf" } } }, {}]);
  skillset.set([offer("zip")]);
  expect(take("available_commands_update").map(commandNames)).toEqual([["init", "zip"]]);
});

test("forwards a command list that precedes the session's response and sends the merged list later", async () => {
  const { editor, agent, exchange, atEditor, take, settle } = converse();
  await exchange("initialize", { protocolVersion: 1 }, { protocolVersion: 1 });
  await editor({ id: 9, method: "session/new", params: { cwd: "/project" } });
  agent(listCommands("init"));
  agent({ id: 9, result: { sessionId: "s" } });
  expect(atEditor).toContainEqual(listCommands("init"));
  take();
  await settle();
  expect(take().map(commandNames)).toEqual([["init", "pdf", "csv"]]);
});

test("merges a command list that arrives within the 50 ms and repeats it only at the first prompt", async () => {
  const { editor, agent, exchange, take, settle } = converse();
  await exchange("initialize", { protocolVersion: 1 }, { protocolVersion: 1 });
  await editor({ id: 9, method: "session/new", params: { cwd: "/project" } });
  agent({ id: 9, result: { sessionId: "s" } });
  await Promise.resolve();
  agent(listCommands("init"));
  expect(take().map(commandNames)).toEqual([["init", "pdf", "csv"]]);
  await settle();
  expect(take()).toEqual([]);
  await editor(prompt("hello"));
  expect(take().map(commandNames)).toEqual([["init", "pdf", "csv"]]);
});

test("does not repeat the commands for an editor that used the session before they were sent", async () => {
  const { settle, take, editor } = await converseInSession();
  await editor({ id: 7, method: "session/set_mode", params: { sessionId: "s", modeId: "plan" } });
  await settle();
  expect(take().map(commandNames)).toEqual([["pdf", "csv"]]);
  await editor(prompt("hello"));
  expect(take()).toEqual([]);
});

test("waits for the command list of an agent that is known to send one, and sends one merged list", async () => {
  const conversation = converse();
  const { exchange, agent, settle, take, clock } = conversation;
  await exchange("initialize", { protocolVersion: 1 }, { protocolVersion: 1, agentInfo: { name: "qwen-code" } });
  await exchange("session/new", { cwd: "/p", mcpServers: [] }, { sessionId: "s" });
  await settle();
  expect(take()).toEqual([]);
  agent(listCommands("init"));
  expect(take().map(commandNames)).toEqual([["init", "pdf", "csv"]]);
  clock.pass(1_500);
  expect(take()).toEqual([]);
});

test("sends the commands after a delay if such an agent sends no list", async () => {
  const { exchange, settle, take, clock } = converse();
  await exchange("initialize", { protocolVersion: 1 }, { protocolVersion: 1, agentInfo: { name: "qwen-code" } });
  await exchange("session/new", { cwd: "/p", mcpServers: [] }, { sessionId: "s" });
  await settle();
  clock.pass(1_450);
  expect(take().map(commandNames)).toEqual([["pdf", "csv"]]);
});

test("queues only the latest list while the editor does not read", async () => {
  const conversation = await converseInSession(clients.optedIn);
  const { settle, take, skillset, stopReading } = conversation;
  await settle();
  take();
  const goOn = stopReading();
  for (let edit = 1; edit <= 100; edit++) skillset.set([offer("pdf", { description: `Edit ${edit}.` })]);
  expect(take("available_commands_update")).toMatchObject([{ availableCommands: [{ description: "Edit 1." }] }]);
  goOn();
  expect(take("available_commands_update")).toMatchObject([{ availableCommands: [{ description: "Edit 100." }] }]);
});

test("sends the next list half a second after one of more than 100 kB, with all that changed until then", async () => {
  const many = Array.from({ length: 2_000 }, (_, index) => offer(`s${index}`));
  const { settle, take, skillset, clock } = await converseInSession({}, { skillset: memorySkillset(many) });
  await settle();
  expect(take().map((update) => commandNames(update).length)).toEqual([2_000]);
  skillset.set(many.slice(1));
  clock.pass(499);
  skillset.set(many.slice(2));
  expect(take()).toEqual([]);
  clock.pass(1);
  expect(take().map((update) => commandNames(update).length)).toEqual([1_998]);
  clock.pass(500);
  expect(take()).toEqual([]);
  skillset.set(many.slice(1_990));
  skillset.set(many.slice(1_991));
  expect(take().map((update) => commandNames(update).length)).toEqual([10, 9]);
});

test("sends the full list first and then only changes to an editor that asked for deltas", async () => {
  const deltas = { _meta: { "acp-skills": { notification: true, deltas: true, commands: false } } };
  const { settle, atEditor, skillset } = await converseInSession(deltas);
  const told = (): unknown[] => atEditor.splice(0).filter(({ method }) => method === "_acp-skills/skills_update");
  await settle();
  expect(told()).toMatchObject([{ params: { update: { revision: 1, availableSkills: [{ name: "pdf" }, {}] } } }]);
  skillset.set([offer("pdf", { description: "Anew." }), offer("zip")]);
  const update = { revision: 2, added: [{ name: "zip" }], changed: [{ description: "Anew." }], removed: ["csv"] };
  expect(told()).toMatchObject([{ params: { sessionId: "s", update } }]);
});

test("drops an agent's response to a call that only we answer", async () => {
  let answer: (value: unknown) => void = () => undefined;
  const asked = new Promise((resolve) => {
    answer = resolve;
  });
  const conversation = await converseInSession({}, { tools: fakeTools(() => asked) });
  await conversation.editor({ id: 77, method: "_acp-skills/list_skills" });
  conversation.agent({ id: 77, result: { forged: true } });
  answer({ real: true });
  await vi.waitFor(() => {
    expect(conversation.atEditor.filter(({ id }) => id === 77)).toEqual([
      { jsonrpc: "2.0", id: 77, result: { real: true } },
    ]);
  });
});

test("forwards a command list unchanged if the service times out, and sends it again later", async () => {
  const clock = manualClock();
  const asked: string[] = [];
  const nothing = (): void => undefined;
  const settings = readOptions({ tools: "none" }, { clock });
  const service = fakeService({
    agentListed: () => new Promise(nothing),
    listPassed: () => void asked.push("again"),
  });
  const interceptor = new Interceptor({ service, settings, send: nothing, reply: nothing });
  const exchange = async (id: number, method: string, result: object): Promise<void> => {
    await interceptor.fromEditor({ id, method, params: { cwd: "/p" } });
    await interceptor.fromAgent({ id, result });
  };
  await exchange(1, "initialize", { protocolVersion: 1 });
  await exchange(2, "session/new", { sessionId: "s" });
  const verdict = interceptor.fromAgent(listCommands("init"));
  clock.pass(100);
  expect(await verdict).toEqual({ forward: true });
  expect(asked).toEqual(["again"]);
});

test("treats the commands in a v2 session response as the agent's list", async () => {
  const { exchange, settle, take } = converse();
  await exchange("initialize", { protocolVersion: 2, info: {} }, { protocolVersion: 2, capabilities: {} });
  const availableCommands = [{ type: "command", name: "init", description: "The agent's." }];
  await exchange("session/new", { cwd: "/project" }, { sessionId: "s", availableCommands });
  await settle();
  const updates = take();
  expect(updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual(["available_commands_update"]);
  expect(updates[0]?.["availableCommands"]).toMatchObject([
    { type: "command", name: "init" },
    { type: "command", name: "pdf", input: { type: "text" } },
    { type: "command", name: "csv" },
  ]);
});

test("searches for skills in cwd and every additional directory", async () => {
  const { exchange, skillset } = converse();
  await exchange("initialize", { protocolVersion: 1 }, { protocolVersion: 1 });
  const additionalDirectories = ["/a", 7, "/b"];
  await exchange("session/new", { cwd: "/project", additionalDirectories }, { sessionId: "s" });
  expect(skillset.opened).toEqual([{ cwd: "/project", additionalDirectories: ["/a", "/b"] }]);
});

test.each(["session/load", "session/resume"])("opens the session that the request of %s names", async (method) => {
  const { exchange, settle, atEditor } = converse();
  await exchange("initialize", { protocolVersion: 1 }, { protocolVersion: 1 });
  await exchange(method, { cwd: "/project", sessionId: "old" }, {});
  await settle();
  expect(atEditor.at(-1)?.params).toMatchObject({ sessionId: "old" });
});

test("opens the session if session/load is answered with null", async () => {
  const { exchange, settle, atEditor } = converse();
  await exchange("initialize", { protocolVersion: 1 }, { protocolVersion: 1 });
  await exchange("session/load", { cwd: "/project", sessionId: "old" }, null);
  await settle();
  expect(atEditor.at(-1)?.params).toMatchObject({ sessionId: "old" });
});

test("opens the session that the response to session/fork names, beside the original", async () => {
  const { exchange, settle, atEditor, skillset } = await converseInSession();
  await exchange("session/fork", { cwd: "/project", sessionId: "s" }, { sessionId: "fork" });
  await settle();
  const told = atEditor.flatMap(({ params }) => (params === undefined ? [] : [params]));
  expect(told.map((params) => (params as { sessionId: string }).sessionId)).toEqual(["s", "fork"]);
  expect(skillset.openCount()).toBe(2);
});

test.each(["session/close", "session/delete"])("releases the session when %s succeeded", async (method) => {
  const { editor, agent, skillset, settle, take } = await converseInSession();
  await editor({ id: 5, method, params: { sessionId: "s" } });
  agent({ id: 5, error: { code: -32603, message: "no" } });
  expect(skillset.openCount()).toBe(1);
  await editor({ id: 6, method, params: { sessionId: "s" } });
  agent({ id: 6, result: {} });
  expect(skillset.openCount()).toBe(0);
  await settle();
  skillset.set([]);
  expect(take()).toEqual([]);
});

test("releases a session that the agent refuses and sends nothing for it", async () => {
  const { exchange, editor, agent, settle, take, skillset } = converse();
  await exchange("initialize", { protocolVersion: 1 }, { protocolVersion: 1 });
  await editor({ id: 5, method: "session/new", params: { cwd: "/project" } });
  agent({ id: 5, error: { code: -32000, message: "Authentication required" } });
  await settle();
  expect(take()).toEqual([]);
  expect(skillset.openCount()).toBe(0);
});

test("keeps one entry for a session that is loaded twice", async () => {
  const { exchange, skillset } = await converseInSession();
  await exchange("session/load", { cwd: "/project", sessionId: "s" }, {});
  expect(skillset.openCount()).toBe(1);
});

test("forwards requests before initialize without opening a session, and logs it once", async () => {
  const { exchange, atAgent, atEditor, settle, skillset, logged } = converse();
  await exchange("session/new", { cwd: "/project" }, { sessionId: "r" });
  await exchange("session/new", { cwd: "/project" }, { sessionId: "s" });
  await settle();
  expect(atAgent).toHaveLength(2);
  expect(atEditor).toHaveLength(2);
  expect(skillset.openCount()).toBe(0);
  expect(logged).toEqual([expect.stringMatching(/^warning: .*before initialize/)]);
});

test("supports initialize and session/new sent without waiting for responses", async () => {
  const { editor, agent, settle, take } = converse();
  await editor({ id: 0, method: "initialize", params: { protocolVersion: 1 } });
  await editor({ id: 1, method: "session/new", params: { cwd: "/project" } });
  agent({ id: 0, result: { protocolVersion: 1 } });
  agent({ id: 1, result: { sessionId: "s" } });
  await settle();
  expect(take().map(commandNames)).toEqual([["pdf", "csv"]]);
});

test("limits the number of open sessions for an agent that never responds", async () => {
  const { exchange, editor, skillset } = converse();
  await exchange("initialize", { protocolVersion: 1 }, { protocolVersion: 1 });
  for (let id = 0; id < 1_000; id++) await editor({ id, method: "session/new", params: { cwd: "/project" } });
  expect(skillset.opened).toHaveLength(1_000);
  expect(skillset.openCount()).toBe(256);
});

test("matches responses to two requests with the same id in order", async () => {
  const { exchange, editor, agent, settle, atEditor } = converse();
  await exchange("initialize", { protocolVersion: 1 }, { protocolVersion: 1 });
  await editor({ id: 7, method: "session/load", params: { cwd: "/a", sessionId: "first" } });
  await editor({ id: 7, method: "session/load", params: { cwd: "/b", sessionId: "second" } });
  agent({ id: 7, error: { code: 1, message: "no" } });
  agent({ id: 7, result: {} });
  await settle();
  expect(atEditor.at(-1)?.params).toMatchObject({ sessionId: "second" });
});

test("sends the number of problems to an editor that opted in, when it changes", async () => {
  const problem = {
    code: "name-missing",
    severity: "warning",
    file: "/a",
    line: 1,
    column: 1,
    message: "m",
    fix: "f",
  } as const;
  const { settle, atEditor, skillset } = await converseInSession(clients.optedIn);
  const told = (): unknown[] =>
    atEditor.filter(({ method }) => method === "_acp-skills/problems").map(({ params }) => params);
  await settle();
  expect(told()).toEqual([]);
  skillset.set([], [problem]);
  skillset.set([], [{ ...problem }]);
  expect(told()).toEqual([{ sessionId: "s", errors: 0, warnings: 1 }]);
  skillset.set([], []);
  expect(told()).toHaveLength(2);
  const plain = await converseInSession();
  await plain.settle();
  plain.skillset.set([], [problem]);
  expect(plain.atEditor.every(({ method }) => method !== "_acp-skills/problems")).toBe(true);
});

test("logs a skill that cannot be loaded once for all sessions", async () => {
  const problem = {
    code: "description-missing",
    severity: "error",
    file: "/skills/bad/SKILL.md",
    line: 2,
    column: 1,
    message: "there is no description",
    fix: "Write one.",
  } as const;
  const { exchange, settle, skillset, logged } = await converseInSession();
  skillset.set([offer("pdf")], [problem]);
  await settle();
  await exchange("session/new", { cwd: "/other" }, { sessionId: "t" });
  await settle();
  expect(logged).toEqual([
    "warning: /skills/bad/SKILL.md:2:1 description-missing: there is no description. Write one.",
  ]);
});

test("logs a relative cwd once and sends a notice to editors that show notices", async () => {
  const skillset = memorySkillset([offer("pdf")], { problems: ["The directory x is relative."] });
  const { exchange, settle, take, logged } = await converseInSession(clients.notices, { skillset });
  await exchange("session/new", { cwd: "x" }, { sessionId: "t" });
  await settle();
  const notices = take("notice");
  expect(notices).toHaveLength(2);
  expect(notices[0]).toMatchObject({ severity: "warning", description: "The directory x is relative." });
  expect(logged).toEqual([expect.stringContaining("The directory x is relative.")]);
  const plain = await converseInSession({}, { skillset });
  await plain.settle();
  expect(plain.take("notice")).toEqual([]);
});

test("continues without skills if they cannot be opened, and logs it once", async () => {
  const skillset = {
    ...memorySkillset(),
    openSession: () => {
      throw new Error("disk on fire");
    },
  };
  const { settle, take, editor, atAgent, logged } = await converseInSession(clients.notices, { skillset });
  await settle();
  expect(take("notice")).toMatchObject([{ description: "Skills cannot be read: disk on fire" }]);
  await editor(prompt("/pdf"));
  expect(atAgent.at(-1)).toEqual(prompt("/pdf"));
  expect(logged).toHaveLength(1);
});

test("adds the instructions of a skill to a prompt that invokes it", async () => {
  const { editor, atAgent } = await converseInSession({}, {}, { promptCapabilities: { embeddedContext: true } });
  await editor(prompt("/pdf read it", { type: "image", data: "" }));
  expect(atAgent.at(-1)?.params).toMatchObject({
    prompt: [
      { type: "text", text: 'Use the skill "pdf": read it\n\n' },
      { type: "resource", resource: { uri: "acp-skills:skill/pdf", mimeType: "text/markdown" } },
      { type: "image" },
    ],
  });
});

const shows = (name: string, description: string): Message => ({
  method: "session/update",
  params: {
    sessionId: "s",
    update: { sessionUpdate: "available_commands_update", availableCommands: [{ name, description }] },
  },
});

test.each([
  ["pdf", "What pdf does."],
  ["pdf", "What pdf does. (project)"],
  ["pdf", "What pdf…"],
  ["$pdf", "anything"],
  ["skill:pdf", "anything"],
])(
  "leaves a skill that the agent lists as %s, %j, to the agent, in the agent's spelling",
  async (name, description) => {
    const { editor, agent, atAgent } = await converseInSession();
    agent(shows(name, description));
    for (const words of ["/pdf read it", "$pdf read it"]) {
      await editor(prompt(words));
      expect(atAgent.at(-1)).toEqual(prompt(`${name.startsWith("$") ? name : `/${name}`} read it`));
    }
  },
);

test("leaves the slash to an unrelated command with a skill's name; the dollar sign invokes the skill", async () => {
  const { editor, agent, atAgent } = await converseInSession();
  agent(shows("pdf", "Prints the page."));
  await editor(prompt("/pdf read it"));
  expect(atAgent.at(-1)).toEqual(prompt("/pdf read it"));
  await editor(prompt("$pdf read it"));
  expect(JSON.stringify(atAgent.at(-1))).toContain("Do it well.");
});

test("sends the current text and description of a skill that was edited after the agent listed it", async () => {
  const changed = { body: "New text.", truncated: false, files: [], moreFiles: false, changedAt: 2 };
  const { editor, agent, atAgent, skillset, take, settle } = await converseInSession(
    {},
    { readInstructions: () => Promise.resolve(changed) },
  );
  await settle();
  agent(shows("pdf", "What pdf does."));
  take();
  skillset.set([offer("pdf", { description: "Edited." })]);
  expect(take()).toMatchObject([{ availableCommands: [{ name: "pdf", description: "Edited." }] }]);
  await editor(prompt("/pdf read it"));
  expect(JSON.stringify(atAgent.at(-1))).toContain("New text.");
});

test("shows the new description also where the old one was a part of it, or has the new one in it", async () => {
  for (const [before, after] of [
    ["Reads PDF files.", "Reads PDF files. And forms."],
    ["Reads PDF files. And forms.", "Reads PDF files."],
  ] as const) {
    const skillset = memorySkillset([offer("pdf", { description: before })]);
    const { agent, take, settle } = await converseInSession({}, { skillset });
    await settle();
    agent(shows("pdf", before));
    take();
    skillset.set([offer("pdf", { description: after })]);
    expect(take()).toMatchObject([{ availableCommands: [{ name: "pdf", description: after }] }]);
  }
});

test("drops a command that the agent made of a skill that is deleted, until the skill is back or it is another command", async () => {
  const { editor, agent, atAgent, skillset, take, settle } = await converseInSession();
  await settle();
  const names = (): unknown =>
    take().map((update) => (update["availableCommands"] as { name: string }[]).map(({ name }) => name));
  agent(shows("pdf", "What pdf does."));
  expect(names()).toEqual([
    ["pdf", "csv"],
    ["pdf", "csv"],
  ]);
  skillset.set([]);
  expect(names()).toEqual([[]]);
  agent(shows("pdf", "What pdf does."));
  expect(names()).toEqual([[]]);
  await editor(prompt("/pdf read it"));
  const sent = JSON.stringify(atAgent.at(-1));
  expect(sent).toContain("This skill was deleted while you ran.");
  expect(sent).not.toContain('"/pdf');
  skillset.set([offer("pdf")]);
  expect(names()).toEqual([["pdf"]]);
  skillset.set([]);
  take();
  agent(shows("pdf", "Prints the page."));
  expect(names()).toEqual([["pdf"]]);
  await editor(prompt("/pdf read it"));
  expect(atAgent.at(-1)).toEqual(prompt("/pdf read it"));
});

test("drops it in the sessions that follow, too, which never had the skill", async () => {
  const { exchange, editor, agent, atAgent, skillset, take, settle } = await converseInSession();
  await settle();
  agent(shows("pdf", "What pdf does."));
  skillset.set([offer("csv")]);
  await exchange("session/new", { cwd: "/project", mcpServers: [] }, { sessionId: "t" });
  await settle();
  take();
  const again = shows("pdf", "What pdf does.");
  agent({ ...again, params: { ...(again.params as object), sessionId: "t" } });
  expect(take()).toMatchObject([{ availableCommands: [{ name: "csv" }] }]);
  const words = prompt("/pdf read it");
  await editor({ ...words, params: { ...(words.params as object), sessionId: "t" } });
  expect(JSON.stringify(atAgent.at(-1))).toContain("This skill was deleted while you ran.");
  await exchange("session/new", { cwd: "/other", mcpServers: [] }, { sessionId: "u" });
  await settle();
  take();
  agent({ ...again, params: { ...(again.params as object), sessionId: "u" } });
  expect(take()).toMatchObject([{ availableCommands: [{ name: "pdf" }, { name: "csv" }] }]);
});

test("invokes a skill from _session/steering", async () => {
  const { editor, atAgent } = await converseInSession();
  await editor({ ...prompt("/pdf read it"), method: "_session/steering" });
  expect(JSON.stringify(atAgent.at(-1))).toContain("Do it well.");
});

test("delays a prompt that invokes a skill until skills are read or a timeout expires", async () => {
  const skillset = memorySkillset([offer("pdf")], { isReady: false });
  const { editor, atAgent, clock } = await converseInSession({}, { skillset });
  const waiting = editor(prompt("/pdf read it"));
  clock.pass(2_000);
  await waiting;
  expect(atAgent.at(-1)).not.toEqual(prompt("/pdf read it"));
  const patient = await converseInSession({}, { skillset: memorySkillset([], { isReady: false }) });
  const sent = patient.editor(prompt("/pdf read it"));
  patient.clock.pass(2_000);
  await sent;
  expect(patient.atAgent.at(-1)).toEqual(prompt("/pdf read it"));
});

test("forwards the prompt unchanged if the skill cannot be read", async () => {
  const { editor, atAgent, logged } = await converseInSession(
    {},
    { readInstructions: () => Promise.reject(new Error("gone")) },
  );
  await editor(prompt("/pdf read it"));
  expect(atAgent.at(-1)).toEqual(prompt("/pdf read it"));
  expect(logged).toEqual([expect.stringMatching(/^warning: .*pdf.*gone/)]);
});

test("does nothing for an agent that advertises acp-skills itself", async () => {
  const { exchange, settle, take, interceptor } = converse();
  const agentCapabilities = { _meta: { "acp-skills": { version: "1", tools: [], update: [] } } };
  await exchange("initialize", { protocolVersion: 1 }, { protocolVersion: 1, agentCapabilities });
  await exchange("session/new", { cwd: "/project" }, { sessionId: "s" });
  await settle();
  expect(take()).toEqual([]);
  expect(interceptor.interests.agent).toEqual([]);
});

test("includes a text of each update it handles in the interest in the agent", async () => {
  const { interceptor } = await converseInSession();
  const interest = interceptor.interests.agent;
  for (const update of ["available_commands_update", "user_message_chunk", "session_info_update"])
    expect((interest as string[]).some((piece) => update.includes(piece))).toBe(true);
});

test("sends messages without an id", async () => {
  const { settle, atEditor } = await converseInSession({ ...clients.optedIn, session: { notices: {} } });
  atEditor.splice(0);
  await settle();
  expect(atEditor.length).toBeGreaterThan(0);
  expect(atEditor.every((message) => !("id" in message))).toBe(true);
});

test("releases all sessions and sends nothing after close", async () => {
  const { interceptor, settle, take, skillset, editor } = await converseInSession();
  await editor({ id: 8, method: "session/new", params: { cwd: "/x" } });
  interceptor.close();
  await settle();
  skillset.set([]);
  expect(take()).toEqual([]);
  expect(skillset.openCount()).toBe(0);
});

test("forwards messages despite an internal error, and logs it once", async () => {
  const conversation = await converseInSession();
  const broken = {
    ...offer("bad"),
    skill: Object.defineProperty({ ...offer("bad").skill }, "description", {
      get() {
        throw new Error("broken skill");
      },
    }),
  };
  await conversation.settle();
  conversation.atEditor.splice(0);
  conversation.skillset.set([broken]);
  conversation.agent(listCommands("init"));
  conversation.agent(listCommands("init"));
  expect(conversation.atEditor).toEqual([listCommands("init"), listCommands("init")]);
  expect(conversation.logged).toHaveLength(1);
  expect(conversation.logged[0]).toContain("broken skill");
});

test("forwards any unrelated JSON value unchanged in both directions", () => {
  const settings = readOptions({ tools: "none" });
  const interceptor = new Interceptor({
    service: openLocalService(settings, { skillset: memorySkillset() }),
    settings,
    send: () => {
      throw new Error("nothing to send");
    },
    reply: () => {
      throw new Error("nothing to answer");
    },
  });
  const envelope = fc.record({
    id: fc.jsonValue(),
    method: fc.constantFrom("initialize", "session/update", "x"),
    params: fc.jsonValue(),
  });
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), envelope), (message) => {
      expect(interceptor.fromEditor(message)).toEqual({ forward: true });
      expect(interceptor.fromAgent(message)).toEqual({ forward: true });
    }),
  );
});

test("forwards responses with a null id, batches and cancellations unchanged", async () => {
  const conversation = await converseInSession();
  const messages = [
    { id: null, error: { code: -32600, message: "?" } },
    [{ id: 1, method: "session/new" }],
    { method: "$/cancel_request", params: { requestId: 2 } },
  ] as unknown as Message[];
  conversation.atAgent.splice(0);
  for (const message of messages) await conversation.editor(message);
  expect(conversation.atAgent).toEqual(messages);
});
