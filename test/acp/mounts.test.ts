import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { agent, type AgentConnector, client, type SessionUpdate } from "@agentclientprotocol/sdk";
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { openSkills } from "../../src/acp/in-process.ts";
import { withSkills, wrapCommand, wrapStream } from "../../src/acp/mounts.ts";
import type { SkillsHandle } from "../../src/acp/in-process/remote-skills.ts";
import type { SkillsOptions } from "../../src/runtime/options.ts";
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

const scriptedAgent = fileURLToPath(new URL("../agent/scripted-agent.js", import.meta.url));

/** In an object, because one of them is a promise, too. */
interface Mounted {
  readonly handle: SkillsHandle;
}

/** Each way to add or open skills, with a handle of the same members. */
const mounts: Readonly<Record<string, (options: SkillsOptions) => Promise<Mounted>>> = {
  withSkills: (options) => Promise.resolve({ handle: withSkills(app, options) }),
  wrapStream: (options) => Promise.resolve({ handle: wrapStream(streamPair()[1], options) }),
  wrapCommand: (options) => Promise.resolve(runScripted(options)),
  openSkills: async (options) => ({ handle: await openSkills(options) }),
};

function ours(): { directories: string[]; defaultRoots: boolean; dataDirectory: string } {
  return { directories: [root], defaultRoots: false, dataDirectory: join(root, "data") };
}

describe.each(Object.keys(mounts))("the handle of %s", (mount) => {
  async function open(options: SkillsOptions = ours()): Promise<Mounted> {
    const mounted = await mounts[mount]?.(options);
    if (mounted === undefined) throw new Error("There is no such mount.");
    onTestFinished(() => mounted.handle.close());
    return mounted;
  }

  test("lists the skills as editors get them, and notifies of changes and problems", async () => {
    await using handle = (await open()).handle;
    await handle.ready;
    expect(await handle.list()).toMatchObject([{ name: "pdf", description: "Reads PDF files." }]);
    expect(handle.problems).toEqual([]);
    const changes: unknown[] = [];
    const stop = handle.onChange((change) => void changes.push(change));
    mkdirSync(join(root, "xls"));
    writeFileSync(join(root, "xls", "SKILL.md"), "---\nname: Xls\ndescription: Reads tables.\n---\n");
    await expect.poll(() => changes, { timeout: 10_000 }).toEqual([{ added: ["xls"], changed: [], removed: [] }]);
    expect(handle.problems).toMatchObject([{ file: join(root, "xls", "SKILL.md") }]);
    expect((await handle.list()).map(({ name }) => name)).toEqual(["pdf", "xls"]);
    stop();
  });

  test("has the skills of each session where the session is, until that is closed", async () => {
    for (const name of ["HOME", "USERPROFILE"]) vi.stubEnv(name, join(root, "home"));
    onTestFinished(() => void vi.unstubAllEnvs());
    const { handle } = await open({ ...ours(), directories: [], defaultRoots: true });
    const write = (project: string, name: string): void => {
      mkdirSync(join(root, project, ".agents/skills", name), { recursive: true });
      const text = `---\nname: ${name}\ndescription: Is ${name}.\n---\n`;
      writeFileSync(join(root, project, ".agents/skills", name, "SKILL.md"), text);
    };
    write("one", "first");
    write("two", "second");
    const [one, two] = ["one", "two"].map((project) => handle.forSession({ cwd: join(root, project) }));
    const names = async (own = handle): Promise<string[]> => (await own.list()).map(({ name }) => name);
    expect([await names(one), await names(two)]).toEqual([["first"], ["second"]]);
    const changes: unknown[] = [];
    one?.onChange((change) => void changes.push(change.added));
    two?.onChange((change) => void changes.push(change.added));
    write("two", "third");
    await expect.poll(() => changes, { timeout: 10_000 }).toEqual([["third"]]);
    await two?.close();
    const unused = handle.forSession({ cwd: join(root, "one") });
    await unused.close();
    await expect(names(unused)).rejects.toMatchObject({ code: "CLOSED" });
    await expect(names(two)).rejects.toMatchObject({ code: "CLOSED" });
    expect(await names(one)).toEqual(["first"]);
    expect(await names()).not.toContain("first");
  });

  test("is closed once, and answers CLOSED afterwards", async () => {
    const { handle } = await open();
    await Promise.all([handle.close(), handle.close()]);
    await expect(handle.list()).rejects.toMatchObject({ code: "CLOSED" });
    await expect(handle.ready).rejects.toMatchObject({ code: "CLOSED" });
    expect(handle.problems).toEqual([]);
  });
});

test("a closed mount leaves the messages of its streams unchanged", async () => {
  const [, agentSide] = streamPair();
  let connected: unknown;
  const connector = withSkills({ connect: (stream) => ((connected = stream), app.connect(stream)) }, ours());
  await connector.close();
  connector.connect(agentSide);
  expect(connected).toBe(agentSide);
});

test("closing a wrapped command ends its agent as an editor that leaves", async () => {
  const { handle } = runScripted();
  await handle.close();
  expect(await handle).toEqual({ exitCode: 0 });
});

function runScripted(options: SkillsOptions = ours()): { readonly handle: ReturnType<typeof wrapCommand> } {
  const streams = { input: new PassThrough(), output: new PassThrough() };
  const handle = wrapCommand({ command: process.execPath, args: [scriptedAgent], ...streams, options });
  return { handle };
}

const pdf = { sessionUpdate: "available_commands_update", availableCommands: [{ name: "pdf" }] };

test("adds skills to an app of SDK 2.x", async () => {
  expect(await firstCommands(withSkills(app, { directories: [root], defaultRoots: false }))).toMatchObject(pdf);
});

test("adds skills to a router of SDK 2.x", async () => {
  const router = v2.agentProtocolRouter().withV1(app);
  expect(await firstCommands(withSkills(router, { directories: [root], defaultRoots: false }))).toMatchObject(pdf);
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
  expect(() => withSkills(app, { announce: "loud" } as never)).toThrow(expect.toSatisfy(isRefused) as Error);
  expect(() => wrapStream(streamPair()[0], { skil: [] } as never)).toThrow(expect.toSatisfy(isRefused) as Error);
  expect(() => withSkills({} as never)).toThrow("withSkills needs an app, router or server of SDK 2.x");
  expect(() => wrapStream({} as never)).toThrow("wrapStream needs a stream of messages");
});

test("adds nothing to a stream with announce none and no tools", () => {
  const [, agentSide] = streamPair();
  const options = { announce: "none", tools: "none" } as const;
  expect({ ...wrapStream(agentSide, options) }).toEqual(agentSide);
  let connected: unknown;
  const connector = withSkills({ connect: (stream) => ((connected = stream), app.connect(stream)) }, options);
  connector.connect(agentSide);
  expect(connected).toBe(agentSide);
});
