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

test("skills-only updates are told and taken off the stream; command lists are told and passed on", async () => {
  const commands = update("available_commands_update", {
    availableCommands: [],
    _meta: { "acp-skills": { availableSkills: [skill] } },
  });
  const { passed, updates } = await observed([
    update("available_skills_update", { availableSkills: [skill] }),
    commands,
    update("_available_skills_update", { availableSkills: [] }),
  ]);
  expect(passed).toEqual([commands]);
  expect(updates.map(({ skills }) => skills.length)).toEqual([1, 1, 0]);
});

test("every other message passes as it is, also garbage", async () => {
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

test("an error of the stream reaches the reader", async () => {
  const readable = new ReadableStream<unknown>({
    start(controller) {
      controller.error(new Error("gone"));
    },
  });
  const stream = observeSkills({ readable, writable: new WritableStream<unknown>() }, () => undefined);
  await expect(stream.readable.getReader().read()).rejects.toThrow("gone");
});
