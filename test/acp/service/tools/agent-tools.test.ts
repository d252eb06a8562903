import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type OpenServers, type ToolsApp, openAgentTools } from "../../../../src/acp/service/tools/agent-tools.ts";
import { openApp } from "../../../../src/runtime/app.ts";
import { systemClock } from "../../../../src/base/clock.ts";
import { silentLog } from "../../../../src/base/log.ts";
import { readOptions } from "../../../../src/runtime/options.ts";
import type { LoopbackAddress } from "../../../../src/mcp/session-servers/loopback-server.ts";
import type { McpCaller } from "../../../../src/mcp/mcp-caller.ts";
import { diskSkillBytes, diskSkillFiles } from "../../../../src/skills/files/disk-skill-files.ts";
import { createSkillHasher } from "../../../../src/skills/hash.ts";
import { memorySkillset, offer } from "../../memory-skillset.ts";
import { noPolicy } from "../../../../src/runtime/trust/policy/open-policies.ts";

const { catalog } = memorySkillset([offer("pdf")]).openSession({});

/** An app whose tools return their caller. */
const app: ToolsApp = {
  toolbox: {
    call: (_name, _args, { owner, transport, sessionId }) => Promise.resolve({ owner, door: transport, sessionId }),
    mayRead: () => Promise.resolve(),
  },
  source: { files: diskSkillFiles(), bytes: diskSkillBytes() },
  hasher: createSkillHasher(),
  log: silentLog,
  clock: systemClock,
  version: "0.0.0-test",
  policyFor: () => noPolicy,
  load: () => Promise.resolve(),
};

/** MCP servers that only record their callers. */
function fakeServers(): { openServers: OpenServers; callers: McpCaller[]; events: string[] } {
  const callers: McpCaller[] = [];
  const events: string[] = [];
  const openServers: OpenServers = () => {
    events.push("opened");
    return Promise.resolve({
      async open(caller) {
        callers.push(await caller);
        const close = (): Promise<void> => Promise.resolve(void events.push("server closed"));
        const headers = { Authorization: "Bearer x" };
        return { url: "http://127.0.0.1:1/", headers, close };
      },
      close: () => Promise.resolve(void events.push("closed")),
    });
  };
  return { openServers, callers, events };
}

const skills = { catalog, directory: "/project" };
const agent = "an-agent";
const transport = "http";
const nothing = (): undefined => undefined;
const follow = () => ({ onEvent: nothing, subagent: nothing, signal: AbortSignal.any([]), ended: nothing });
const toolsListed = (): void => undefined;
const askIn = () => () => Promise.resolve({ missing: "nobody" } as const);

test("loads the MCP servers once, when a session first needs one", async () => {
  const { openServers, events } = fakeServers();
  let loads = 0;
  const tools = openAgentTools(app, { openServers: (given) => (loads++, openServers(given)) });
  expect(loads).toBe(0);
  await tools.call("a", {}, { sessionId: "s", agent, skills }, AbortSignal.any([]));
  expect(loads).toBe(0);
  const open = () => tools.openServer(skills, { sessionId: undefined, agent, transport, follow, toolsListed, askIn });
  await Promise.all([open(), open()]);
  expect([loads, events]).toEqual([1, ["opened"]]);
});

test("retries loading the servers for the next session", async () => {
  const { openServers } = fakeServers();
  const attempts: OpenServers[] = [() => Promise.reject(new Error("no memory")), openServers];
  const tools = openAgentTools(app, {
    openServers: (given) => attempts.shift()?.(given) ?? Promise.reject(new Error("more")),
  });
  await expect(
    tools.openServer(skills, { sessionId: "s", agent, transport, follow, toolsListed, askIn }),
  ).rejects.toThrow("no memory");
  await expect(
    tools.openServer(skills, { sessionId: "s", agent, transport, follow, toolsListed, askIn }),
  ).resolves.toBeDefined();
});

test("gives editor and model of a session the same owner, and the model a temporary owner before the id is known", async () => {
  const { openServers, callers } = fakeServers();
  const tools = openAgentTools(app, { openServers });
  const server = await tools.openServer(skills, {
    sessionId: undefined,
    agent,
    transport,
    follow,
    toolsListed,
    askIn,
  });
  const [caller] = callers;
  expect(caller?.sessionId).toBeUndefined();
  expect(caller?.owner).toMatch(/^opening:/);
  server.begin("s");
  const answer = await tools.call("a", {}, { sessionId: "s", agent, skills }, AbortSignal.any([]));
  expect(answer).toEqual({ owner: caller?.owner, door: "acp", sessionId: caller?.sessionId });
  expect(caller?.sessionId).toBe("s");
});

test("gives sessions of other agents, directories and ids different owners", async () => {
  const { openServers } = fakeServers();
  const tools = openAgentTools(app, { openServers });
  const ask = (caller: object): Promise<unknown> =>
    tools.call("a", {}, { sessionId: "1", agent, skills, ...caller }, AbortSignal.any([]));
  const answer = (await ask({})) as { owner: string };
  expect(answer).toEqual({ owner: expect.stringMatching(/^session:1@/) as string, door: "acp", sessionId: "1" });
  expect(await ask({})).toEqual(answer);
  for (const other of [{ agent: "another" }, { skills: { catalog, directory: "/elsewhere" } }, { sessionId: "2" }]) {
    expect(await ask(other)).not.toMatchObject({ owner: answer.owner });
  }
});

test("closes the servers and rejects later calls of openServer", async () => {
  const { openServers, events } = fakeServers();
  const tools = openAgentTools(app, { openServers });
  await tools.openServer(skills, { sessionId: "s", agent, transport, follow, toolsListed, askIn });
  await tools.close();
  expect(events).toEqual(["opened", "closed"]);
  const unused = openAgentTools(app, { openServers });
  await unused.close();
  await expect(
    unused.openServer(skills, { sessionId: "s", agent, transport, follow, toolsListed, askIn }),
  ).rejects.toThrow("closed");
  expect(events).toEqual(["opened", "closed"]);
});

test("shares blobs between an editor and its agent's model with the real tools", async () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), "acp-skills-tools-"));
  onTestFinished(() => {
    rmSync(dataDirectory, { recursive: true });
  });
  const opened = openApp(readOptions({ dataDirectory }));
  const tools = openAgentTools(opened);
  const server = await tools.openServer(skills, {
    sessionId: undefined,
    agent,
    transport,
    follow,
    toolsListed,
    askIn,
  });
  server.begin("s");
  const { url, headers: secrets } = server.address as LoopbackAddress;
  const call = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "create_blob", arguments: { content: "é", kind: "text/plain" } },
  };
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const response = await fetch(url, {
    method: "POST",
    headers: { ...headers, ...secrets },
    body: JSON.stringify(call),
  });
  const blob_id = /blob:[\w.-]+/.exec(await response.text())?.[0];
  const read = await tools.call("read_blob", { blob_id }, { sessionId: "s", agent, skills }, AbortSignal.any([]));
  expect(read).toMatchObject({ content: "é", kind: "text/plain" });
  const other = tools.call("read_blob", { blob_id }, { sessionId: "t", agent, skills }, AbortSignal.any([]));
  await expect(other).rejects.toMatchObject({ code: "BLOB_NOT_FOUND" });
  server.close();
  await tools.close();
  await opened.close();
});

test("aborts the calls of a cancelled turn only", async () => {
  const { openServers, callers } = fakeServers();
  const tools = openAgentTools(app, { openServers });
  const server = await tools.openServer(skills, {
    sessionId: "s",
    agent,
    transport,
    follow,
    toolsListed,
    askIn,
  });
  const [caller] = callers;
  const first = caller?.turn;
  server.cancel();
  const next = caller?.turn;
  expect([first?.aborted, next?.aborted]).toEqual([true, false]);
  expect(caller?.project).toBe("/project");
});
