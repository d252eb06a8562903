import { expect, test } from "vitest";
import { observeSkills } from "../../src/client/observe-skills.ts";
import type { SkillsUpdate } from "../../src/client/skills-update.ts";

const skill = { name: "pdf", description: "Reads PDF files." };
const update = (kind: string, fields: object) => ({
  jsonrpc: "2.0",
  method: "session/update",
  params: { sessionId: "s", update: { sessionUpdate: kind, ...fields } },
});

async function observed(messages: unknown[]): Promise<{ passed: unknown[]; updates: SkillsUpdate[] }> {
  const updates: SkillsUpdate[] = [];
  const readable = new ReadableStream<unknown>({
    start(controller) {
      for (const message of messages) controller.enqueue(message);
      controller.close();
    },
  });
  const stream = observeSkills({ readable, writable: new WritableStream<unknown>() }, (seen) => updates.push(seen));
  const passed: unknown[] = [];
  for await (const message of stream.readable) passed.push(message);
  return { passed, updates };
}

test("reports updates of skills and removes them from the stream, but forwards command lists", async () => {
  const _meta = { "acp-skills": { source: "/skills" } };
  const list = update("available_commands_update", { availableCommands: [{ ...skill, _meta }] });
  const commands = { ...list, params: { ...list.params, _meta: { "acp-skills": { skills: 1 } } } };
  const { passed, updates } = await observed([
    update("available_skills_update", { availableSkills: [skill] }),
    commands,
    update("_available_skills_update", { availableSkills: [] }),
  ]);
  expect(passed).toEqual([commands]);
  expect(updates.map(({ skills }) => skills.length)).toEqual([1, 1, 0]);
});

test("applies deltas to the session's last list and reports the full list", async () => {
  const csv = { name: "csv", description: "Reads CSV files." };
  const asNotification = (fields: object): object => ({
    ...update("available_skills_update", fields),
    method: "_acp-skills/skills_update",
  });
  const changed = { ...skill, description: "Reads and writes PDF files." };
  const { passed, updates } = await observed([
    asNotification({ revision: 1, availableSkills: [skill] }),
    asNotification({ revision: 2, added: [csv], changed: [changed], removed: [] }),
    asNotification({ revision: 3, added: [], changed: [], removed: ["pdf"] }),
  ]);
  expect(passed).toEqual([]);
  expect(updates.map(({ skills }) => skills)).toEqual([[skill], [changed, csv], [csv]]);
});

test("forwards all other messages unchanged, including invalid ones", async () => {
  const messages = [
    { jsonrpc: "2.0", id: 1, result: {} },
    update("agent_message_chunk", {}),
    { jsonrpc: "2.0", method: "session/update", params: null },
    7,
    null,
    [],
  ];
  expect(await observed(messages)).toEqual({ passed: messages, updates: [] });
});

test("propagates an error of the stream", async () => {
  const readable = new ReadableStream<unknown>({
    start(controller) {
      controller.error(new Error("gone"));
    },
  });
  const stream = observeSkills({ readable, writable: new WritableStream<unknown>() }, () => undefined);
  await expect(stream.readable.getReader().read()).rejects.toThrow("gone");
});
