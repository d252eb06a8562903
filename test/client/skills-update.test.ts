import fc from "fast-check";
import { expect, test } from "vitest";
import { readSkillsDelta, readSkillsUpdate } from "../../src/client/skills-update.ts";
import type { AvailableSkill } from "../../src/wire/available-skill.ts";
import { fromCommandFacts, toCommandFacts } from "../../src/wire/command-facts.ts";

const skill = { name: "pdf", description: "Reads PDF files." };
const mark = { "acp-skills": { skills: 1 } };
const command = { name: "pdf", description: "Reads PDF files." };
const facts = { "acp-skills": { source: "/skills" } };

test.each([
  ["the RFD's form", { sessionUpdate: "available_skills_update", availableSkills: [skill] }],
  ["its extension form", { sessionUpdate: "_available_skills_update", availableSkills: [skill] }],
])("reads skills from %s", (_form, update) => {
  expect(readSkillsUpdate({ sessionId: "s", update })).toEqual({ sessionId: "s", skills: [skill] });
});

test("reads skills from commands that describe one", () => {
  const availableCommands = [
    { name: "init", description: "The agent's own." },
    { ...command, _meta: facts },
  ];
  const update = { sessionUpdate: "available_commands_update", availableCommands };
  const about = { name: "pdf", version: "0.0.0", kind: "instruction", namespace: "pdf", source: "/skills" };
  const skills = [{ ...skill, _meta: { "acp-skills": about } }];
  expect(readSkillsUpdate({ sessionId: "s", update, _meta: mark })).toEqual({ sessionId: "s", skills });
});

test("returns an empty list for our command list without skills", () => {
  const update = { sessionUpdate: "available_commands_update", availableCommands: [command] };
  const _meta = { "acp-skills": { skills: 0 } };
  expect(readSkillsUpdate({ sessionId: "s", update, _meta })).toEqual({ sessionId: "s", skills: [] });
});

test("restores any skill from its command", () => {
  const texts = fc.string({ minLength: 1 }).filter((text) => text.trim() !== "");
  const arbitrary = fc.record({
    description: texts,
    license: fc.option(texts, { nil: undefined }),
    compatibility: fc.option(texts, { nil: undefined }),
    allowedTools: fc.option(fc.array(texts), { nil: undefined }),
    version: fc.constantFrom("0.0.0", "1.2.3"),
    kind: fc.constantFrom("instruction" as const, "action" as const),
    name: fc.constantFrom("pdf", "a.pdf"),
    namespace: fc.constantFrom("pdf", "a", "other"),
    metadata: fc.dictionary(texts, fc.string()),
    environment: fc.option(
      fc.record(
        { status: fc.constantFrom("met", "missing", "unknown"), missing: fc.array(texts) },
        { requiredKeys: ["status"] },
      ),
      { nil: undefined },
    ),
    state: fc.constantFrom(undefined, "needs-approval" as const, "blocked" as const, "denied" as const),
    shownAs: fc.constantFrom("a-pdf", "pdf", "$pdf", "skill:pdf"),
    shownText: fc.option(texts, { nil: undefined }),
  });
  fc.assert(
    fc.property(
      arbitrary,
      ({ version, kind, name, namespace, metadata, environment, state, shownAs, shownText, ...fields }) => {
        const { license, compatibility, allowedTools, description } = fields;
        const available: AvailableSkill = {
          name: name.replace(".", "-"),
          description,
          ...(license !== undefined && { license }),
          ...(compatibility !== undefined && { compatibility }),
          ...(allowedTools !== undefined && { allowedTools }),
          _meta: {
            ...metadata,
            "acp-skills": {
              name,
              version,
              kind,
              namespace,
              source: "/skills",
              ...(environment && { environment }),
              ...(state && { state }),
            },
          },
        };
        const told = { name: shownAs, description: shownText ?? description };
        expect(fromCommandFacts(told, toCommandFacts(available, told))).toEqual(available);
      },
    ),
  );
});

test("reads a delta as a delta and not as a list", () => {
  const change = { revision: 2, added: [skill], changed: [], removed: ["csv"] };
  const params = { sessionId: "s", update: { sessionUpdate: "available_skills_update", ...change } };
  expect(readSkillsDelta(params)).toEqual({ sessionId: "s", ...change });
  expect(readSkillsUpdate(params)).toBeUndefined();
  const list = { sessionUpdate: "available_skills_update", revision: 1, availableSkills: [] };
  expect(readSkillsDelta({ sessionId: "s", update: list })).toBeUndefined();
});

test("omits an invalid skill and keeps the others", () => {
  const availableSkills = [{ name: "a--b", description: "x" }, skill, { name: "no-description" }, null];
  const update = { sessionUpdate: "available_skills_update", availableSkills };
  expect(readSkillsUpdate({ sessionId: "s", update })?.skills).toEqual([skill]);
});

test.each([
  { sessionId: "s", update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "hi" } } },
  { sessionId: "s", update: { sessionUpdate: "available_commands_update", availableCommands: [] } },
  { sessionId: "s", sessionUpdate: "available_skills_update", availableSkills: [skill] },
])("ignores an update without skills: %j", (params) => {
  expect(readSkillsUpdate(params)).toBeUndefined();
});

test("never throws for a JSON value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      readSkillsUpdate(value);
      readSkillsUpdate({ sessionId: "s", update: value });
    }),
  );
});
