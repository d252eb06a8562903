import fc from "fast-check";
import { expect, test } from "vitest";
import { createSkillsStore, type SkillsStoreOptions } from "../../../src/client/store/skills-store.ts";
import { optIn } from "../../../src/client/initialize.ts";

const pdf = { name: "pdf", description: "Reads PDF files." };
const csv = { name: "csv", description: "Reads CSV files." };

function update(fields: object, sessionId = "s"): { method: string; params: object } {
  return { method: "session/update", params: { sessionId, update: fields } };
}
const list = (availableSkills: unknown, more: object = {}) =>
  update({ sessionUpdate: "available_skills_update", availableSkills, ...more });
const delta = (revision: number, fields: object) =>
  update({ sessionUpdate: "available_skills_update", revision, added: [], changed: [], removed: [], ...fields });
const commands = (availableCommands: unknown) =>
  update({ sessionUpdate: "available_commands_update", availableCommands });

function openStore(options?: SkillsStoreOptions) {
  const store = createSkillsStore(options);
  const names = () => store.skills.map(({ name }) => name);
  const codes = () => store.problems.map(({ code, place }) => `${code} ${place}`);
  let changes = 0;
  store.subscribe(() => changes++);
  return { store, names, codes, changes: () => changes };
}

test("keeps each property the same object until what it contains changes", () => {
  const { store, changes } = openStore();
  store.receive(list([pdf, csv]));
  const { sessions, skills, problems, capabilities } = store;
  store.receive(list([{ ...pdf }, csv]));
  expect([store.sessions, store.skills, store.problems, store.capabilities]).toEqual([
    sessions,
    skills,
    problems,
    capabilities,
  ]);
  expect(store.skills).toBe(skills);
  expect(store.sessions).toBe(sessions);
  expect(store.problems).toBe(problems);
  expect(changes()).toBe(1);
  store.receive(list([pdf, { ...csv, license: "MIT" }]));
  expect(store.skills).not.toBe(skills);
  expect(store.skills[0]).toBe(skills[0]);
  expect(store.problems).toBe(problems);
  expect(changes()).toBe(2);
});

test("knows without commands by which name people invoke a skill", () => {
  const { store } = openStore();
  const ours = (facts: object) => ({
    _meta: {
      "acp-skills": { name: "x", version: "1.0.0", kind: "instruction", namespace: "x", source: "/s", ...facts },
    },
  });
  const told = [{}, { state: "denied" }, { userInvocable: false }, { state: "blocked" }].map(ours);
  const others = told.map((facts, index) => ({ name: `s${index}`, description: "Does it.", ...facts }));
  store.receive(list([pdf, ...others]));
  expect(store.skills.map(({ command }) => command)).toEqual([undefined, "s0", undefined, undefined, "s3"]);
  store.receive(commands([{ name: "$s0", description: "Does it." }]));
  expect(store.skills.find(({ name }) => name === "s0")?.command).toBe("$s0");
});

test("reports a bad entry with its place and keeps the others", () => {
  const { store, names, codes } = openStore();
  store.receive(list([pdf, { name: "a--b", description: "x" }, null, pdf, { ...csv, license: 1 }]));
  expect(names()).toEqual(["pdf"]);
  expect(codes()).toEqual([
    "INVALID_SKILL /update/availableSkills/1/name",
    "INVALID_SKILL /update/availableSkills/2",
    "DUPLICATE_SKILL /update/availableSkills/3",
    "INVALID_SKILL /update/availableSkills/4/license",
  ]);
  store.receive(list([pdf]));
  expect(codes()).toEqual([]);
});

test("changes no skill for an update that is nonsense, and keeps what was wrong with the list before", () => {
  const { store, names, codes } = openStore();
  store.receive(list([pdf, null]));
  store.receive(list("none"));
  expect(names()).toEqual(["pdf"]);
  expect(codes()).toEqual(["INVALID_SKILL /update/availableSkills/1", "INVALID_UPDATE /update/availableSkills"]);
  store.receive(list([pdf]));
  expect(codes()).toEqual([]);
});

test("applies changes in order and reports one that is missing", () => {
  const { store, names, codes } = openStore();
  store.receive(list([pdf], { revision: 1 }));
  store.receive(delta(2, { added: [csv] }));
  expect([names(), codes()]).toEqual([["pdf", "csv"], []]);
  store.receive(delta(4, { removed: ["pdf"] }));
  expect([names(), codes()]).toEqual([["csv"], ["MISSED_UPDATE /update/revision"]]);
  store.receive(delta(3, { added: [pdf] }));
  expect(names()).toEqual(["csv"]);
  store.receive(list([pdf, csv], { revision: 5 }));
  expect([names(), codes()]).toEqual([["pdf", "csv"], []]);
});

test("takes from commands how a listed skill is invoked", () => {
  const { store } = openStore();
  store.receive(commands([{ name: "$pdf", description: "Short." }, { name: "$xml" }, { name: "init" }]));
  store.receive(list([{ ...pdf, license: "MIT" }]));
  expect(store.skills).toMatchObject([
    { name: "pdf", description: "Reads PDF files.", license: "MIT", command: "$pdf" },
    { name: "xml", description: "", command: "$xml", form: "named-command" },
  ]);
  expect(store.sessions[0]?.commands).toEqual([{ name: "init", description: "" }]);
});

test("prefers what our command says over the agent's own list of names", () => {
  const { store } = openStore();
  const ours = { "acp-skills": { source: "/skills", license: "MIT" } };
  const availableCommands = [{ ...pdf, _meta: ours }];
  store.receive(
    update({
      sessionUpdate: "available_commands_update",
      availableCommands,
      _meta: { availableSkills: ["pdf", "xml", 7, ""] },
    }),
  );
  expect(store.skills).toMatchObject([{ name: "pdf", license: "MIT" }, { name: "xml" }]);
  expect(store.problems).toEqual([]);
});

test("keeps several agents apart and releases closed sessions", () => {
  const { store, names } = openStore();
  store.receive(list([pdf]), "one");
  store.receive(list([pdf, csv]), "two");
  expect(names()).toEqual(["pdf", "pdf", "csv"]);
  store.sent({ id: 7, method: "session/close", params: { sessionId: "s" } }, "two");
  store.receive({ id: 7, error: { code: 1, message: "no" } }, "two");
  expect(store.sessions).toHaveLength(2);
  store.sent({ id: 8, method: "session/delete", params: { sessionId: "s" } }, "two");
  store.receive({ id: 8, result: {} }, "two");
  expect(names()).toEqual(["pdf"]);
  store.disconnect("one");
  expect(store.sessions).toEqual([]);
});

test("a new initialize response replaces the connection", () => {
  const { store } = openStore();
  store.receive({ id: 0, result: { protocolVersion: 1 } });
  store.receive(list([pdf]));
  store.initialized({ protocolVersion: 2, info: { name: "second" } });
  expect(store.skills).toEqual([]);
  expect(store.capabilities).toMatchObject([{ protocolVersion: 2, name: "second" }]);
});

test("keeps at most what the limits say", () => {
  const { store, names, codes } = openStore({ limits: { sessions: 2, skills: 2, text: 100, allText: 1_000 } });
  store.receive(list([pdf, { ...csv, license: "x".repeat(100) }, csv]));
  expect(names()).toEqual(["pdf"]);
  expect(codes()).toEqual(["SKILL_TOO_LONG /update/availableSkills/1", "TOO_MANY_SKILLS /update/availableSkills"]);
  for (const id of ["t", "u"])
    store.receive(update({ sessionUpdate: "available_skills_update", availableSkills: [csv] }, id));
  expect(store.sessions.map(({ sessionId }) => sessionId)).toEqual(["t", "u"]);
  expect(codes()).toEqual(["TOO_MANY_SESSIONS "]);
});

test("a listener that throws is heard of, but ends nothing", async () => {
  const { store, names } = openStore();
  const heard = new Promise((resolve) => process.once("uncaughtException", resolve));
  const others = process.listeners("uncaughtException").slice(0, -1);
  for (const other of others) process.removeListener("uncaughtException", other);
  const stop = store.subscribe(() => {
    throw new Error("listener");
  });
  store.receive(list([pdf]));
  expect(names()).toEqual(["pdf"]);
  stop();
  expect(await heard).toMatchObject({ message: "listener" });
  for (const other of others) process.on("uncaughtException", other);
});

test("no message throws, and none changes skills unless it lists some", () => {
  const someKinds = fc.constantFrom("available_skills_update", "available_commands_update", "agent_message_chunk");
  const messages = fc.oneof(
    fc.jsonValue(),
    fc.record({ method: fc.constantFrom("session/update", "_acp-skills/skills_update"), params: fc.jsonValue() }),
    fc
      .tuple(someKinds, fc.jsonValue(), fc.jsonValue())
      .map(([sessionUpdate, value, _meta]) =>
        update(
          { sessionUpdate, availableSkills: [value], availableCommands: [value, { name: value, _meta }], _meta },
          "x",
        ),
      ),
    fc.record({ id: fc.jsonValue(), result: fc.jsonValue() }),
  );
  fc.assert(
    fc.property(fc.array(messages), (given) => {
      const { store } = openStore();
      store.receive(list([pdf]));
      const { session } = { session: store.sessions[0] };
      for (const message of given) {
        store.receive(message);
        store.sent(message);
      }
      expect(store.sessions[0]).toBe(session);
      expect(() => JSON.stringify(store.problems)).not.toThrow();
    }),
    { numRuns: 500 },
  );
});

test.each([
  ["in _meta of v1", { clientCapabilities: { _meta: optIn()._meta } }, true],
  ["as a capability of sessions in v2", { capabilities: { session: optIn().session } }, true],
  ["not at all", { clientCapabilities: { fs: {} } }, false],
  ["without capabilities", {}, false],
])("says of a connection whether it asked for skills: %s", (_, params, optedIn) => {
  const store = createSkillsStore();
  store.sent({ jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: 1, ...params } }, "claude");
  store.receive({ jsonrpc: "2.0", id: 0, result: { protocolVersion: 1 } }, "claude");
  store.initialized({ protocolVersion: 1 }, "unseen");
  expect(store.capabilities).toMatchObject([
    { agent: "claude", optedIn },
    { agent: "unseen", optedIn: undefined },
  ]);
});

const entry = { type: "skill", name: "pdf", description: "Reads PDF files.", path: "/skills/pdf/SKILL.md" };

test("reads skill entries of ACP v2, beside commands", () => {
  const { store } = openStore();
  store.receive(
    commands([{ type: "command", name: "init", description: "Begins." }, entry, { ...entry, name: "$csv" }]),
  );
  expect(store.skills).toMatchObject([
    { name: "pdf", command: "pdf", file: "/skills/pdf/SKILL.md", form: "skill-entry" },
    { name: "csv", command: "$csv", form: "skill-entry" },
  ]);
  expect(store.sessions[0]?.commands).toEqual([{ name: "init", description: "Begins." }]);
});

const takesBlocks = { protocolVersion: 2, capabilities: { session: { prompt: { skill: { inline: {} } } } } };

test.each([
  ["a block, to an agent that declares blocks", takesBlocks, list([pdf]), true],
  ["a block, to an agent that sends skill entries", { protocolVersion: 2, capabilities: {} }, commands([entry]), true],
  ["a text, to an agent of v2 that declares nothing", { protocolVersion: 2, capabilities: {} }, list([pdf]), false],
  ["a text, to an agent of v1", { ...takesBlocks, protocolVersion: 1, capabilities: undefined }, list([pdf]), false],
])("invokes a skill by %s", (_case, result, told, isBlock) => {
  const { store } = openStore();
  store.receive({ id: 0, result });
  store.receive(told);
  const [skill] = store.skills;
  if (skill === undefined) throw new Error("no skill");
  const block = { type: "skill", name: "pdf" };
  const words = { type: "text", text: "read a.pdf" };
  expect(store.invoke(skill)).toEqual([isBlock ? block : { type: "text", text: "/pdf" }]);
  expect(store.invoke(skill, words.text)).toEqual(
    isBlock ? [block, words] : [{ type: "text", text: "/pdf read a.pdf" }],
  );
});

test("invokes a skill by the name of the agent's command for it", () => {
  const { store } = openStore();
  store.receive(commands([{ name: "$csv", description: "Reads CSV files." }]));
  expect(store.skills.map((skill) => store.invoke(skill, "x"))).toEqual([[{ type: "text", text: "$csv x" }]]);
});
