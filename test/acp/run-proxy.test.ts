import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeAll, expect, test } from "vitest";
import { runProxy } from "../../src/acp/run-proxy.ts";
import { silentLog } from "../../src/base/log.ts";
import { isSkillsError } from "../../src/base/errors.ts";
import { type Chain, openChain, updateOf } from "./relay/relay-chain/chain.ts";

/** The first session compiles the service; on a busy machine that takes longer than a message waits for it. */
beforeAll(async () => {
  const warm = openChain(["ours"], { manner: ["http"] });
  await warm.ask("initialize", { protocolVersion: 1 });
  await warm.ask("session/new", { cwd: warm.project, mcpServers: [] });
  await warm.until(({ method }) => method === "session/update");
  await warm.close();
}, 60_000);

let chain: Chain | undefined;
afterEach(async () => {
  await chain?.close();
  chain = undefined;
});

async function openSession(opened: Chain, protocolVersion = 1): Promise<string> {
  chain = opened;
  await opened.ask("initialize", { protocolVersion, clientCapabilities: {} });
  const { result } = await opened.ask("session/new", { cwd: opened.project, mcpServers: [] });
  return (result as { readonly sessionId: string }).sessionId;
}

const say = (words: string): object[] => [{ type: "text", text: words }];
const lists = (...names: string[]) => {
  return (message: Parameters<typeof updateOf>[0]): boolean =>
    updateOf(message)
      ?.availableCommands?.map(({ name }) => name)
      .join() === names.join();
};

test.each([
  ["alone", ["ours"]],
  ["before another proxy", ["ours", "transparent"]],
  ["behind another proxy", ["transparent", "ours"]],
  ["in a chain of three with two of ours", ["ours", "transparent", "ours"]],
] as const)("lists the skills to the editor and adds one MCP server, %s", async (_place, links) => {
  const opened = openChain(links, { manner: ["commands=review", "http"] });
  const sessionId = await openSession(opened);
  await opened.until(lists("review", "pdf"));
  await opened.ask("session/prompt", { sessionId, prompt: say("tool list_skills {}") });
  expect(opened.said()).toEqual([expect.stringContaining("pdf")]);
  const { params } = opened.atAgent.find(({ method }) => method === "session/new") ?? {};
  expect(params).toMatchObject({ cwd: opened.project, mcpServers: [{ name: "skills" }] });
  expect(opened.logged.filter((line) => !line.startsWith("info"))).toEqual([]);
});

test("leaves all messages alone before another one of ours", async () => {
  const opened = openChain(["ours", "ours"]);
  chain = opened;
  const { result } = await opened.ask("initialize", { protocolVersion: 1 });
  expect(result).toMatchObject({ protocolVersion: 1, agentCapabilities: { _meta: { "acp-skills": {} } } });
  expect(opened.logged).toEqual(["info: The agent already serves skills; acp-skills forwards all messages unchanged."]);
});

test("leaves what comes after it to a renaming proxy before it", async () => {
  const opened = openChain(["renaming", "ours"], { manner: ["commands=review"] });
  await openSession(opened);
  await opened.until(lists("x-review", "x-pdf"));
});

test("adds the instructions of an invoked skill to the prompt", async () => {
  const opened = openChain(["ours", "transparent"]);
  const sessionId = await openSession(opened);
  await opened.until(lists("pdf"));
  await opened.ask("session/prompt", { sessionId, prompt: say("/pdf a.pdf") });
  expect(opened.said().join("")).toContain("Read the text layer first.");
});

test("does the same in ACP v2", async () => {
  const opened = openChain(["ours", "transparent", "ours"], { manner: ["v2", "http"] });
  const sessionId = await openSession(opened, 2);
  await opened.until(lists("pdf"));
  await opened.ask("session/prompt", { sessionId, prompt: say("tool list_skills {}") });
  await opened.until((message) => updateOf(message)?.sessionUpdate === "state_update");
  expect(opened.said()).toEqual([expect.stringContaining("pdf")]);
});

test.each([
  ["before another proxy", ["ours", "transparent"]],
  ["behind another proxy", ["transparent", "ours"]],
] as const)("tells skill entries, takes blocks and refuses unknown ones in ACP v2, %s", async (_place, links) => {
  const opened = openChain(links, { manner: ["v2", "http"] });
  chain = opened;
  const capabilities = { session: { commands: { skill: {} } } };
  const { result } = await opened.ask("initialize", { protocolVersion: 2, capabilities });
  expect(result).toMatchObject({ capabilities: { session: { prompt: { skill: { inline: {} } } } } });
  const created = (await opened.ask("session/new", { cwd: opened.project, mcpServers: [] })).result;
  const { sessionId } = created as { readonly sessionId: string };
  const told = await opened.until(lists("pdf"));
  expect(updateOf(told)?.availableCommands).toMatchObject([
    { type: "skill", name: "pdf", path: expect.stringMatching(/SKILL\.md$/) as string },
  ]);
  const refused = await opened.ask("session/prompt", { sessionId, prompt: [{ type: "skill", name: "nope" }] });
  expect(refused).toMatchObject({ error: { code: -32602, message: expect.stringContaining("nope") as string } });
  await opened.ask("session/prompt", { sessionId, prompt: [{ type: "skill", name: "pdf" }, ...say("a.pdf")] });
  await opened.until((message) => updateOf(message)?.sessionUpdate === "state_update");
  expect(opened.said().join("")).toContain("Read the text layer first.");
});

test("speaks the methods with an underscore to conductors that use them", async () => {
  const opened = openChain(["ours", "ours"], { prefix: "_" });
  const sessionId = await openSession(opened);
  await opened.until(lists("pdf"));
  await opened.ask("session/prompt", { sessionId, prompt: say("say hello") });
  expect(opened.said()).toEqual(["hello"]);
});

test("answers the agent's permission requests for our read-only tools, and forwards all others", async () => {
  const opened = openChain(["ours", "transparent"], {
    respond: ({ method }) =>
      method === "session/request_permission"
        ? { result: { outcome: { outcome: "selected", optionId: "no" } } }
        : undefined,
  });
  const sessionId = await openSession(opened);
  const words = 'permit list_skills {}; use {"toolCallId":"t","title":"rm -r"}';
  await opened.ask("session/prompt", { sessionId, prompt: say(words) });
  expect(opened.said()).toEqual([expect.stringContaining('"once"'), expect.stringContaining('"no"')]);
  expect(opened.atEditor.filter(({ method }) => method === "session/request_permission")).toHaveLength(1);
});

test("serves the editor's own calls of tools", async () => {
  const opened = openChain(["transparent", "ours"]);
  const sessionId = await openSession(opened);
  const { result } = await opened.ask("_acp-skills/list_skills", { sessionId });
  expect(JSON.stringify(result)).toContain("pdf");
});

test("never lets a response overtake the updates before it", async () => {
  const opened = openChain(["ours", "transparent", "ours"]);
  const sessionId = await openSession(opened);
  const { id, replied } = opened.start("session/prompt", { sessionId, prompt: say("update 500; say done") });
  await replied;
  expect(opened.said()).toHaveLength(501);
  expect(opened.said().at(-1)).toBe("done");
  expect(opened.atEditor.at(-1)).toMatchObject({ id, result: { stopReason: "end_turn" } });
});

test("cancels a request of the editor on every hop, once, by the id that it has there", async () => {
  const opened = openChain(["ours", "transparent", "ours"]);
  const sessionId = await openSession(opened);
  const { id } = opened.start("session/prompt", { sessionId, prompt: say("silent") });
  opened.cancel(id);
  await opened.ask("session/set_mode", { sessionId, modeId: "ask" });
  const prompts = opened.atAgent.filter(({ method }) => method === "session/prompt");
  expect(prompts).toHaveLength(1);
  expect(opened.atAgent.filter(({ method }) => method === "$/cancel_request")).toEqual([
    { jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: prompts[0]?.id } },
  ]);
});

test("cancels a request of the agent on every hop", async () => {
  const opened = openChain(["ours", "transparent", "ours"]);
  const sessionId = await openSession(opened);
  opened.start("session/prompt", { sessionId, prompt: say('use {"toolCallId":"t","title":"rm -r"}') });
  const asked = await opened.until(({ method }) => method === "session/request_permission");
  const cancel = { jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: "permission-1" } };
  await opened.ask("session/prompt", { sessionId, prompt: say(`raw ${JSON.stringify(cancel)}`) });
  expect(opened.atEditor.filter(({ method }) => method === "$/cancel_request")).toMatchObject([
    { params: { requestId: asked.id } },
  ]);
});

test("changes nothing with nothing to do, but translates", async () => {
  const opened = openChain(["ours"], { options: { announce: "none", tools: "none" } });
  const sessionId = await openSession(opened);
  await opened.ask("session/prompt", { sessionId, prompt: say("echo") });
  expect(opened.said()).toEqual([JSON.stringify(say("echo"))]);
});

interface Ends {
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly ended: Promise<void>;
}

function start(signal?: AbortSignal): Ends {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const options = { announce: "none", tools: "none", log: silentLog } as const;
  return { input, output, ended: runProxy({ input, output, ...(signal && { signal }), options }) };
}

test("ends when the conductor closes its end, after all that came was passed on", async () => {
  const { input, output, ended } = start();
  input.end('{"id":1,"method":"proxy/initialize"}');
  await ended;
  output.end();
  expect(await text(output)).toBe(
    '{"jsonrpc":"2.0","id":1,"method":"proxy/successor","params":{"method":"initialize","params":null}}\n',
  );
});

test("ends when nobody reads its messages any longer", async () => {
  const { output, ended } = start();
  output.destroy(new Error("EPIPE"));
  await ended;
});

test("ends when its signal is aborted", async () => {
  const told = new AbortController();
  const { ended } = start(told.signal);
  told.abort();
  await ended;
});

test("refuses invalid options", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const refused = runProxy({ input, output, options: { announce: "loud" } as never });
  await expect(refused).rejects.toSatisfy((error) => isSkillsError(error) && error.code === "INVALID_OPTIONS");
});
