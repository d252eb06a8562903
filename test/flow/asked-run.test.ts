import { expect, test } from "vitest";
import { openTracedConversation } from "./traced-conversation.ts";

const manifest = `name = "web.fetch"
version = "1.0.0"
description = "Fetches a page."
kind = "action"
[runtime]
language = "python"
entrypoint = "main.py"
[permissions]
network = ["https://api.example.com"]
`;

const files = {
  ".agents/skills/web.fetch/skill.toml": manifest,
  ".agents/skills/web.fetch/SKILL.md": "---\nname: Fetch\nshort_description: Fetches.\n---\nFetch.\n",
  ".agents/skills/web.fetch/main.py": 'def main(args):\n    return {"fetched": True}\n',
};

const call = (sentence: string): object => ({ sessionId: "session-1", prompt: [{ type: "text", text: sentence }] });

test("asks the user before a run that may connect to a host, and runs it in the same call", async () => {
  const { project, ask, until, trace, close } = openTracedConversation(["http"], {}, { files, choice: "allow_always" });
  await ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const skillsArrive = until((line) => line.includes("web-fetch"));
  await ask("session/new", { cwd: project, mcpServers: [] });
  await skillsArrive;
  await ask("session/prompt", call('tool execute_skill {"name":"web.fetch","args":{}}'));
  const asked = trace.findIndex((line) => line.includes('"tool_call"'));
  // The commands follow the approval some time later: the skill is ready now.
  const isOther = (line: string): boolean => line.startsWith("! ") || line.includes("available_commands_update");
  expect(trace.slice(asked).filter((line) => !isOther(line))).toMatchInlineSnapshot(`
    [
      "< {"method":"session/update","params":{"sessionId":"session-1","update":{"sessionUpdate":"tool_call","toolCallId":"acp-skills:question-uuid","title":"Host api.example.com: run web.fetch 1.0.0 (2878740126a4, from this project)","kind":"execute","status":"pending","content":[{"type":"content","content":{"type":"text","text":"All that it wants: may connect to api.example.com.\\nNot signed"}}],"rawInput":{"name":"web.fetch","version":"1.0.0","digest":"sha256:digest"}}}}",
      "< {"id":"acp-skills:uuid","method":"session/request_permission","params":{"sessionId":"session-1","toolCall":{"toolCallId":"acp-skills:question-uuid","title":"Host api.example.com: run web.fetch 1.0.0 (2878740126a4, from this project)","kind":"execute","status":"pending","content":[{"type":"content","content":{"type":"text","text":"All that it wants: may connect to api.example.com.\\nNot signed"}}],"rawInput":{"name":"web.fetch","version":"1.0.0","digest":"sha256:digest"}},"options":[{"optionId":"allow_once","name":"Run once","kind":"allow_once"},{"optionId":"allow","name":"Trust this exact version in this project","kind":"allow_always"},{"optionId":"reject_once","name":"Not now","kind":"reject_once"},{"optionId":"reject_always","name":"Block this skill","kind":"reject_always"}]}}",
      "> {"id":"acp-skills:uuid","result":{"outcome":{"outcome":"selected","optionId":"allow"}}}",
      "< {"method":"session/update","params":{"sessionId":"session-1","update":{"sessionUpdate":"tool_call_update","toolCallId":"acp-skills:question-uuid","title":"Trusted: Host api.example.com: run web.fetch 1.0.0 (2878740126a4, from this project)","status":"completed"}}}",
      "< {"method":"session/update","params":{"sessionId":"session-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"200 event: message\\ndata: {\\"result\\":{\\"content\\":[{\\"type\\":\\"text\\",\\"text\\":\\"{\\\\\\"status\\\\\\":\\\\\\"completed\\\\\\",\\\\\\"output\\\\\\":{\\\\\\"fetched\\\\\\":true},\\\\\\"summary\\\\\\":\\\\\\"Completed.\\\\\\",\\\\\\"run_id\\\\\\":\\\\\\"run_id\\\\\\",\\\\\\"output_blobs\\\\\\":[],\\\\\\"logs_preview\\\\\\":\\\\\\"\\\\\\",\\\\\\"version\\\\\\":\\\\\\"1.0.0\\\\\\",\\\\\\"duration_ms\\\\\\":0,\\\\\\"limits_applied\\\\\\":{\\\\\\"timeout_ms\\\\\\":30000,\\\\\\"memory_mb\\\\\\":512,\\\\\\"isolation\\\\\\":\\\\\\"tier\\\\\\"}}\\"}],\\"structuredContent\\":{\\"status\\":\\"completed\\",\\"output\\":{\\"fetched\\":true},\\"summary\\":\\"Completed.\\",\\"run_id\\":\\"run_id\\",\\"output_blobs\\":[],\\"logs_preview\\":\\"\\",\\"version\\":\\"1.0.0\\",\\"duration_ms\\":0,\\"limits_applied\\":{\\"timeout_ms\\":30000,\\"memory_mb\\":512,\\"isolation\\":\\"tier\\"}}},\\"jsonrpc\\":\\"2.0\\",\\"id\\":1}\\n\\n"}}}}",
      "< {"id":3,"result":{"stopReason":"end_turn"}}",
    ]
  `);
  // The answer is stored: the next run of the same bytes is not asked about.
  trace.splice(0);
  await ask("session/prompt", call('tool execute_skill {"name":"web.fetch","args":{}}'));
  expect(trace.join("\n")).not.toContain("session/request_permission");
  expect(trace.join("\n")).toContain("fetched");
  await close();
});
