import fc from "fast-check";
import { expect, test } from "vitest";
import { readSkillsUpdate } from "../../src/client/skills-update.ts";

const skill = { name: "pdf", description: "Reads PDF files." };
const meta = { "acp-skills": { availableSkills: [skill] } };

test.each([
  ["the RFD's form", { sessionUpdate: "available_skills_update", availableSkills: [skill] }, undefined],
  ["its extension twin", { sessionUpdate: "_available_skills_update", availableSkills: [skill] }, undefined],
  [
    "_meta of the update",
    { sessionUpdate: "available_commands_update", availableCommands: [], _meta: meta },
    undefined,
  ],
  ["_meta of the params", { sessionUpdate: "available_commands_update", availableCommands: [] }, meta],
])("skills are read from %s", (_form, update, _meta) => {
  expect(readSkillsUpdate({ sessionId: "s", update, _meta })).toEqual({ sessionId: "s", skills: [skill] });
});

test("a skill that is not an AvailableSkill is left out and hides no other", () => {
  const availableSkills = [{ name: "a--b", description: "x" }, skill, { name: "no-description" }, null];
  const update = { sessionUpdate: "available_skills_update", availableSkills };
  expect(readSkillsUpdate({ sessionId: "s", update })?.skills).toEqual([skill]);
});

test.each([
  { sessionId: "s", update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "hi" } } },
  { sessionId: "s", update: { sessionUpdate: "available_commands_update", availableCommands: [] } },
  { sessionId: "s", sessionUpdate: "available_skills_update", availableSkills: [skill] },
])("an update that carries no skills is not ours: %j", (params) => {
  expect(readSkillsUpdate(params)).toBeUndefined();
});

test("no JSON value makes it throw", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      readSkillsUpdate(value);
      readSkillsUpdate({ sessionId: "s", update: value });
    }),
  );
});
