import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agent, type AgentConnector, client, type SessionUpdate } from "@agentclientprotocol/sdk";
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withSkills, wrapStream } from "../../src/acp/mounts.ts";
import { isSkillsError } from "../../src/base/errors.ts";
import { streamPair } from "./stream-pair.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "acp-skills-with-"));
  mkdirSync(join(root, "pdf"));
  writeFileSync(join(root, "pdf", "SKILL.md"), "---\nname: pdf\ndescription: Reads PDF files.\n---\nRead.\n");
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

const app = agent({ name: "agent" })
  .onRequest("initialize", () => ({ protocolVersion: 1, agentCapabilities: {} }))
  .onRequest("session/new", () => ({ sessionId: "s" }));

async function firstCommands(connector: AgentConnector): Promise<unknown> {
  const [editorSide, agentSide] = streamPair();
  connector.connect(agentSide);
  let seen: (update: SessionUpdate) => void = () => undefined;
  const update = new Promise<SessionUpdate>((resolve) => {
    seen = resolve;
  });
  const editor = client({ name: "editor" })
    .onNotification("session/update", ({ params }) => {
      seen(params.update);
    })
    .connect(editorSide);
  await editor.agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  await editor.agent.request("session/new", { cwd: root, mcpServers: [] });
  const first = await update;
  editor.close();
  return first;
}

const pdf = { sessionUpdate: "available_commands_update", availableCommands: [{ name: "pdf" }] };

test("adds skills to an app of SDK 2.x", async () => {
  expect(await firstCommands(withSkills(app, { skills: [root], defaultRoots: false }))).toMatchObject(pdf);
});

test("adds skills to a router of SDK 2.x", async () => {
  const router = v2.agentProtocolRouter().withV1(app);
  expect(await firstCommands(withSkills(router, { skills: [root], defaultRoots: false }))).toMatchObject(pdf);
});

test("passes connect options to the agent and returns its lifecycle", () => {
  const lifecycle = { closed: Promise.resolve() };
  const calls: unknown[][] = [];
  const inner: AgentConnector = {
    connect(...call: unknown[]) {
      calls.push(call);
      return lifecycle;
    },
  };
  const options = { any: "options" } as never;
  expect(withSkills(inner).connect(streamPair()[0], options)).toBe(lifecycle);
  expect(calls[0]?.[1]).toBe(options);
});

test("throws for invalid options", () => {
  const isRefused = (error: unknown): boolean => isSkillsError(error) && error.code === "INVALID_OPTIONS";
  expect(() => withSkills(app, { emit: "loud" } as never)).toThrow(expect.toSatisfy(isRefused) as Error);
  expect(() => wrapStream(streamPair()[0], { skil: [] } as never)).toThrow(expect.toSatisfy(isRefused) as Error);
});

test("adds nothing to a stream with emit none and no tools", () => {
  const [, agentSide] = streamPair();
  const options = { emit: "none", tools: "none" } as const;
  expect(wrapStream(agentSide, options)).toBe(agentSide);
  let connected: unknown;
  const connector = withSkills({ connect: (stream) => ((connected = stream), app.connect(stream)) }, options);
  connector.connect(agentSide);
  expect(connected).toBe(agentSide);
});
