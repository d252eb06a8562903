import { expect, test } from "vitest";
import { amendValue } from "../../src/acp/messages/amend.ts";
import { factsOf } from "../../src/acp/negotiation/agents.ts";
import { advertise, chooseForms, chooseTransport, negotiate } from "../../src/acp/negotiation.ts";
import { announcedForms } from "../../src/runtime/options.ts";

const asked = { notification: false, deltas: false, commands: true };
const v1 = { protocolVersion: 1, agentCapabilities: {} };
const v2 = { protocolVersion: 2, capabilities: {} };

test("ignores the embeddedContext capability of an agent that hides resources from its model", () => {
  const agentCapabilities = { promptCapabilities: { embeddedContext: true } };
  const agentInfo = { name: "Copilot", version: "1.0.102" };
  expect(negotiate({}, { protocolVersion: 1, agentCapabilities, agentInfo }).takesResources).toBe(false);
});

test.each([
  ["uses the version of the response", { protocolVersion: 2 }, v1, { protocol: 1 }],
  ["a v2 response", { protocolVersion: 2 }, v2, { protocol: 2, notices: true }],
  ["no version at all", {}, {}, { protocol: 1 }],
  [
    "no params",
    undefined,
    null,
    { protocol: 1, optIn: undefined, declaresSkills: false, notices: false, takesResources: false },
  ],
  [
    "opt-in by true",
    { clientCapabilities: { _meta: { "acp-skills": true } } },
    v1,
    { optIn: asked, declaresSkills: true },
  ],
  ["opt-in by an object", { clientCapabilities: { _meta: { "acp-skills": {} } } }, v1, { optIn: asked }],
  ["refusal by false", { clientCapabilities: { _meta: { "acp-skills": false } } }, v1, { optIn: undefined }],
  ["opt-in in v2", { capabilities: { _meta: { "acp-skills": true } } }, v2, { optIn: asked }],
  ["the proposed session.skills capability", { clientCapabilities: { session: { skills: {} } } }, v1, { optIn: asked }],
  [
    "JetBrains AIR",
    { clientCapabilities: { _meta: { jetbrains: { air: {} } } } },
    v1,
    { jetbrains: true, optIn: undefined, declaresSkills: true },
  ],
  ["notices", { clientCapabilities: { session: { notices: {} } } }, v1, { notices: true }],
  ["no notices", { clientCapabilities: { session: { notices: null } } }, v1, { notices: false }],
  [
    "embedded context in v1",
    {},
    { protocolVersion: 1, agentCapabilities: { promptCapabilities: { embeddedContext: true } } },
    { takesResources: true },
  ],
  [
    "embedded context in v2",
    {},
    { protocolVersion: 2, capabilities: { session: { prompt: { embeddedContext: {} } } } },
    { takesResources: true },
  ],
  [
    "an agent that uses acp-skills itself",
    {},
    { protocolVersion: 1, agentCapabilities: { _meta: { "acp-skills": { version: "1" } } } },
    { alreadyServed: true },
  ],
])("negotiates: %s", (_case, params, result, expected) => {
  expect(negotiate(params, result)).toMatchObject(expected);
});

test("reads a client's preferences from an opt-in object", () => {
  const declared = { notification: true, deltas: true, commands: false };
  const params = { clientCapabilities: { _meta: { "acp-skills": declared } } };
  expect(negotiate(params, v1).optIn).toEqual(declared);
  expect(chooseForms(negotiate(params, v1), "auto")).toEqual({
    skills: { method: "_acp-skills/skills_update", kind: "available_skills_update", deltas: true },
    commands: false,
    problems: true,
  });
});

test.each([
  [{ deltas: true }, false],
  [{ deltas: true, commands: null }, true],
  [{ deltas: true, commands: true }, true],
  [{ deltas: false }, true],
  [{ commands: false }, false],
  [true, true],
])("sends commands of skills to an editor that asks for %j: %j", (declared, commands) => {
  const params = { clientCapabilities: { session: { skills: declared } } };
  expect(chooseForms(negotiate(params, v1), "auto").commands).toBe(commands);
});

test.each(
  announcedForms.flatMap((announce) =>
    ([1, 2] as const).flatMap((protocol) => [true, false].map((optedIn) => ({ announce, protocol, optedIn }))),
  ),
)("chooses the forms for %j", ({ announce, protocol, optedIn }) => {
  const forms = chooseForms({ ...negotiate({}, {}), protocol, optIn: optedIn ? asked : undefined }, announce);
  const auto = optedIn ? "available_skills_update" : protocol === 2 ? "_available_skills_update" : undefined;
  const kind = { auto, rfd: "available_skills_update", commands: undefined, none: undefined }[announce];
  const skills = kind && { method: "session/update", kind, deltas: false };
  const commands = announce === "auto" || announce === "commands";
  expect(forms).toEqual({ skills, commands, problems: optedIn && announce !== "none" });
});

test.each([
  ["http", ["http", "stdio"], "an-agent", "auto", true],
  ["stdio", ["http", "stdio"], "an-agent", "stdio", true],
  ["stdio", ["http", "stdio"], "an-agent", "auto", false],
  ["stdio", ["http", "stdio"], "@agentclientprotocol/claude-agent-acp", "auto", true],
  ["stdio", ["http", "stdio"], "Claude Code", "auto", true],
  ["http", ["http"], "@agentclientprotocol/claude-agent-acp", "auto", false],
  ["stdio", ["stdio"], "an-agent", "auto", true],
  [undefined, ["http"], "an-agent", "stdio", true],
  [undefined, [], "an-agent", "auto", true],
  [undefined, ["http", "stdio"], "an-agent", "none", true],
] as const)(
  "chooses %s of %j for %s with --tools %s and peer users known: %s",
  (expected, transports, agent, tools, canTell) => {
    expect(chooseTransport({ transports, facts: factsOf(agent) }, tools, canTell)).toBe(expected);
  },
);

const advert = { version: "1.2.3", tools: ["a"], update: ["available_skills_update", "available_commands_update"] };

test.each([
  [{ protocolVersion: 1 }, { protocolVersion: 1, agentCapabilities: { _meta: { "acp-skills": advert } } }],
  [
    { protocolVersion: 1, agentCapabilities: { loadSession: true } },
    { protocolVersion: 1, agentCapabilities: { loadSession: true, _meta: { "acp-skills": advert } } },
  ],
  [
    { protocolVersion: 1, agentCapabilities: { _meta: null } },
    { protocolVersion: 1, agentCapabilities: { _meta: { "acp-skills": advert } } },
  ],
  [
    { protocolVersion: 2, capabilities: { _meta: { a: 1 } } },
    { protocolVersion: 2, capabilities: { _meta: { a: 1, "acp-skills": advert } } },
  ],
  [
    { protocolVersion: 1, agentCapabilities: "odd" },
    { protocolVersion: 1, agentCapabilities: "odd" },
  ],
])("adds the advertisement to %j", (result, expected) => {
  const negotiation = negotiate({ clientCapabilities: { _meta: { "acp-skills": true } } }, result);
  const response = { id: 1, result };
  const amendments = advertise(response, negotiation, chooseForms(negotiation, "auto"), {
    version: "1.2.3",
    tools: ["a"],
  });
  expect(amendValue(response, amendments)).toEqual({ id: 1, result: expected });
});

test("a result that is no object is left alone", () => {
  const negotiation = negotiate({}, null);
  expect(
    advertise({ id: 1, result: null }, negotiation, chooseForms(negotiation, "auto"), { version: "1", tools: [] }),
  ).toEqual([]);
});
