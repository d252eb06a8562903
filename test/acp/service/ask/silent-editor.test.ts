import { expect, test } from "vitest";
import { fakeTools } from "../../fake-tools.ts";
import { converse, prompt } from "../../conversation.ts";
import { question, settled } from "./questions.ts";

/** All that this package knows of an editor. */
const everything = {
  _meta: { "acp-skills": { notification: true, deltas: true, commands: true }, jetbrains: { air: { version: 1 } } },
  session: { skills: {}, notices: {}, subagents: {}, commands: { skill: {} } },
  elicitation: { form: {}, url: {} },
  fs: { readTextFile: true, writeTextFile: true },
  terminal: true,
};

test.each([1, 2])("an editor of v%i that declares everything and answers nothing keeps its chat", async (version) => {
  const tools = fakeTools(async ({ caller, signal }) => (await caller.ask?.(question, signal)) ?? "cannot ask");
  const conversation = converse({ tools });
  const { exchange, settle, editor, agent, atEditor, atAgent, logged, clock, take } = conversation;
  const params = { protocolVersion: version, clientCapabilities: everything, capabilities: everything };
  await exchange("initialize", params, { protocolVersion: version, agentCapabilities: {}, capabilities: {} });
  await exchange("session/new", { cwd: "/project", mcpServers: [] }, { sessionId: "s" });
  await settle();
  expect(take().length).toBeGreaterThan(0);

  const calls = Array.from({ length: 40 }, (_, index) => `call-${index}`);
  for (const id of calls) {
    await editor({ id, method: "_acp-skills/execute_skill", params: { name: "web.fetch", sessionId: "s" } });
    await settled();
  }
  expect(atEditor.filter(({ method }) => method === "elicitation/create")).toHaveLength(32);
  const resultOf = (id: string): unknown => atEditor.find((message) => message.id === id)?.result;
  expect(calls.slice(32).map(resultOf)).toEqual(
    Array.from({ length: 8 }, () => ({
      missing: "failed",
      detail: "32 other questions are open in this editor",
    })),
  );

  const words = prompt("Hello.");
  await editor(words);
  expect(atAgent.at(-1)).toMatchObject({ id: words.id, method: "session/prompt" });
  const chunk = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Hi." } };
  agent({ method: "session/update", params: { sessionId: "s", update: chunk } });
  expect(atEditor.at(-1)).toMatchObject({ params: { update: chunk } });
  agent({ id: words.id!, result: { stopReason: "end_turn" } });
  expect(atEditor.at(-1)).toEqual({ id: words.id, result: { stopReason: "end_turn" } });

  clock.pass(5 * 60_000);
  await settled();
  expect(calls.slice(0, 32).map(resultOf)).toEqual(Array.from({ length: 32 }, () => ({ missing: "timeout" })));
  expect(atAgent.filter(({ id }) => typeof id === "string" && id.startsWith("acp-skills:"))).toEqual([]);
  expect(logged.filter((line) => !line.startsWith("info: No MCP server"))).toEqual([
    "warning: A question in the editor was not answered within 5 minutes, which counts as no.",
  ]);
});
