import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { localLedger } from "../../src/runtime/ledger.ts";
import { readAll } from "../contract/ledger.ts";
import { openTracedConversation } from "./traced-conversation.ts";

const input = { language: "python", code: "def main():\n    return 42" };
const message = (method: string, params: object, id?: string): string =>
  `raw ${JSON.stringify({ jsonrpc: "2.0", ...(id !== undefined && { id }), method, params })}`;
const update = (sessionId: string, fields: object): string => message("session/update", { sessionId, update: fields });
const subagent = (state: object): string =>
  update("session-1", { sessionUpdate: "subagent_update", sessionId: "child", state });
const toolCall = {
  toolCallId: "run-1",
  title: "run_code",
  name: "mcp__skills__run_code",
  kind: "other",
  rawInput: input,
};
const reading = {
  toolCallId: "read-1",
  title: "list_skills",
  name: "mcp__skills__list_skills",
  kind: "other",
  rawInput: {},
};
const options = [{ optionId: "once", kind: "allow_once", name: "Once" }];

test("answers the request of a subagent, describes its call, and records it with the session and the subagent", async () => {
  const { project, ask, trace, close } = openTracedConversation(["http"]);
  await ask("initialize", { protocolVersion: 1, clientCapabilities: { subagents: {} } });
  await ask("session/new", { cwd: project, mcpServers: [] });
  trace.splice(0);
  const sentences = [
    subagent({ state: "running" }),
    update("child", { sessionUpdate: "tool_call", ...toolCall, status: "pending" }),
    message("session/request_permission", { sessionId: "child", toolCall: reading, options }, "asked-1"),
    `tool run_code ${JSON.stringify(input)}`,
    subagent({ state: "idle", stopReason: "end_turn" }),
  ];
  await ask("session/prompt", { sessionId: "session-1", prompt: [{ type: "text", text: sentences.join("; ") }] });

  const updates = trace
    .filter((line) => line.startsWith("< ") && line.includes("session/update"))
    .map((line) => (JSON.parse(line.slice(2)) as { params: { sessionId: string; update: object } }).params)
    .filter(
      ({ update: { sessionUpdate } }: { update: { sessionUpdate?: string } }) =>
        sessionUpdate !== "available_commands_update",
    );
  const running = { sessionUpdate: "subagent_update", sessionId: "child", state: { state: "running" } };
  expect(updates).toMatchObject([
    { sessionId: "session-1", update: running },
    { sessionId: "child", update: { sessionUpdate: "tool_call", title: "Run Python code", kind: "execute" } },
    { sessionId: "session-1", update: { sessionUpdate: "agent_message_chunk" } },
    { sessionId: "session-1", update: { ...running, state: { state: "idle" } } },
  ]);
  expect(trace.filter((line) => line.startsWith("< ")).join("\n")).not.toContain("session/request_permission");
  expect(JSON.stringify(updates[2])).toContain('\\"output\\":42');
  expect(trace.filter((line) => line.startsWith("! ") && line.includes("subagent"))).toEqual([]);

  const rows = await readAll(localLedger(join(project, "data"), { log: silentLog }));
  expect(rows.filter(({ tool }) => tool === "run_code")).toMatchObject([
    { outcome: "completed", sessionId: "session-1", subagent: "child" },
  ]);
  await close();
});
