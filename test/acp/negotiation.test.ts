import { expect, test } from "vitest";
import { amendValue } from "../../src/acp/messages/amend.ts";
import { amendLine } from "../../src/acp/relay/amend-line.ts";
import { factsOf } from "../../src/acp/negotiation/agents.ts";
import { advertise, chooseForms, chooseTransport, negotiate } from "../../src/acp/negotiation.ts";
import { announcedForms } from "../../src/runtime/options.ts";

const asked = { notification: false, deltas: false, commands: false };
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
    commands: undefined,
    problems: true,
  });
});

test.each([
  [{ deltas: true }, undefined],
  [{ commands: null }, undefined],
  [{ commands: false }, undefined],
  [true, undefined],
  [{ commands: true }, "command"],
  [{ deltas: true, commands: true }, "command"],
])("sends commands of skills to an editor that asks for %j: %j", (declared, commands) => {
  const params = { clientCapabilities: { session: { skills: declared } } };
  expect(chooseForms(negotiate(params, v1), "auto").commands).toBe(commands);
});

test.each(
  announcedForms.flatMap((announce) =>
    [true, false].flatMap((takesSkillEntries) =>
      [undefined, asked, { ...asked, commands: true }].map((optIn) => ({ announce, takesSkillEntries, optIn })),
    ),
  ),
)("chooses the forms for %j", ({ announce, takesSkillEntries, optIn }) => {
  const forms = chooseForms({ takesSkillEntries, optIn }, announce);
  const list = { method: "session/update", kind: "available_skills_update", deltas: false };
  const entries = takesSkillEntries ? "skill" : "command";
  const auto = optIn === undefined ? [undefined, entries] : [list, optIn.commands ? entries : undefined];
  const [skills, commands] = { auto, rfd: [list], commands: [undefined, entries], none: [] }[announce];
  expect(forms).toEqual({ skills, commands, problems: optIn !== undefined && announce !== "none" });
});

const skillEntries = { capabilities: { session: { commands: { skill: {} } } } };

test.each([
  ["an object, in ACP v2", skillEntries, v2, true],
  ["an object, in ACP v1", { clientCapabilities: skillEntries.capabilities }, v1, false],
  ["null", { capabilities: { session: { commands: { skill: null } } } }, v2, false],
  ["nothing", { capabilities: { session: { commands: {} } } }, v2, false],
])("reads whether the client takes skill entries from %s", (_case, params, result, takesSkillEntries) => {
  expect(negotiate(params, result)).toMatchObject({ takesSkillEntries, faults: [] });
});

test.each([true, "skill", [], 1, false])("reports that the client declares skill entries as %j", (skill) => {
  const { takesSkillEntries, faults } = negotiate({ capabilities: { session: { commands: { skill } } } }, v2);
  expect(takesSkillEntries).toBe(false);
  expect(faults).toEqual([
    expect.stringMatching(/^The editor declares session\.commands\.skill as .+ plain commands\.$/),
  ]);
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

const advert = { version: "1.2.3", tools: ["a"], update: ["available_skills_update"] };
const blocks = { prompt: { skill: { inline: {} } } };

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
    { protocolVersion: 2, capabilities: { _meta: { a: 1, "acp-skills": advert }, session: blocks } },
  ],
  [v2, { ...v2, capabilities: { session: blocks, _meta: { "acp-skills": advert } } }],
  [
    { protocolVersion: 2, capabilities: { session: { prompt: { image: {}, skill: null }, mcp: {} } } },
    {
      protocolVersion: 2,
      capabilities: {
        session: { prompt: { image: {}, skill: { inline: {} } }, mcp: {} },
        _meta: { "acp-skills": advert },
      },
    },
  ],
  [
    { protocolVersion: 2, capabilities: { session: { prompt: { skill: {} } } } },
    { protocolVersion: 2, capabilities: { session: { prompt: { skill: {} } }, _meta: { "acp-skills": advert } } },
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
  const line = amendLine(Buffer.from(JSON.stringify(response)), amendments).toString();
  expect(JSON.parse(line)).toEqual({ id: 1, result: expected });
});

test("a result that is no object is left alone", () => {
  const negotiation = negotiate({}, null);
  expect(
    advertise({ id: 1, result: null }, negotiation, chooseForms(negotiation, "auto"), { version: "1", tools: [] }),
  ).toEqual([]);
});
