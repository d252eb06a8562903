import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { choose } from "../../permission-answers.ts";
import { type Chain, openChain, updateOf } from "./chain.ts";
import type { Message, Reply } from "./json-rpc-peer.ts";

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

let chain: Chain | undefined;
afterEach(async () => {
  await chain?.close();
  chain = undefined;
});

/** Has the agent run a skill that wants the network, in a chain of three with ours in the middle; `respond` is the user. */
async function runAsked(respond: (message: Message) => Reply | undefined): Promise<Chain> {
  const opened = openChain(["transparent", "ours", "transparent"], { manner: ["http"], respond });
  chain = opened;
  const directory = join(opened.project, ".agents", "skills", "web.fetch");
  mkdirSync(directory);
  writeFileSync(join(directory, "skill.toml"), manifest);
  writeFileSync(join(directory, "SKILL.md"), "---\nname: Fetch\nshort_description: Fetches.\n---\nFetch.\n");
  writeFileSync(join(directory, "main.py"), 'def main(args):\n    return {"fetched": True}\n');
  await opened.ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const { result } = await opened.ask("session/new", { cwd: opened.project, mcpServers: [] });
  const { sessionId } = result as { readonly sessionId: string };
  await opened.until(
    (message) => updateOf(message)?.availableCommands?.some(({ name }) => name === "web-fetch") === true,
  );
  const words = 'tool execute_skill {"name":"web.fetch","args":{}}';
  await opened.ask("session/prompt", { sessionId, prompt: [{ type: "text", text: words }] });
  return opened;
}

const asked = ({ atEditor }: Chain): Message[] =>
  atEditor.filter(({ method }) => method === "session/request_permission");
const states = ({ atEditor }: Chain): (string | undefined)[] =>
  atEditor.flatMap((message) => {
    const update = updateOf(message) as { readonly sessionUpdate?: string; readonly status?: string } | undefined;
    return update?.sessionUpdate?.startsWith("tool_call") === true ? [update.status] : [];
  });
const nothingForTheAgent = ({ atAgent }: Chain): void => {
  expect(atAgent.filter(({ method, id }) => method === undefined || String(id).startsWith("acp-skills:"))).toEqual([]);
};

test("asks the user through the chain, and runs the skill once it is allowed", { timeout: 60_000 }, async () => {
  const opened = await runAsked((message) => choose(message, "allow_once"));
  expect(asked(opened)).toMatchObject([
    {
      params: {
        toolCall: {
          title: expect.stringMatching(/^Host api\.example\.com: run web\.fetch 1\.0\.0 /) as string,
        },
      },
    },
  ]);
  expect(states(opened)).toEqual(["pending", "completed"]);
  expect(opened.said().join("")).toContain("fetched");
  nothingForTheAgent(opened);
});

test("runs nothing if the user cancels the question", { timeout: 60_000 }, async () => {
  const cancelled = { result: { outcome: { outcome: "cancelled" } } };
  const opened = await runAsked(({ method }) => (method === "session/request_permission" ? cancelled : undefined));
  expect(asked(opened)).toHaveLength(1);
  expect(states(opened)).toEqual(["pending", "failed"]);
  expect(opened.said().join("")).toContain("PERMISSION_DENIED");
  expect(opened.said().join("")).not.toContain("fetched");
  nothingForTheAgent(opened);
});
