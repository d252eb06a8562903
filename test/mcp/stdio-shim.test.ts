import { PassThrough } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { fromBridgeEnvironment, toBridgeEnvironment } from "../../src/mcp/bridge-environment.ts";
import { runStdioShim } from "../../src/mcp/stdio-shim.ts";
import type { Toolbox } from "../../src/tools/toolbox.ts";
import { manualClock } from "../manual-clock.ts";
import { openDoor } from "./open-door.ts";
import { legacyCall, modernRequest } from "./raw-request.ts";
import { initialize, openStdioClient } from "./stdio-client.ts";
import type { StdioClient } from "./stdio-client.ts";

const cleanup: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});

interface Shim {
  readonly agent: StdioClient;
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly ended: Promise<void>;
  readonly logged: string[];
  readonly clock: ReturnType<typeof manualClock>;
  readonly closeSession: () => Promise<void>;
  readonly setParent: (id: number) => void;
}

async function openShim(options: Parameters<typeof openDoor>[1] = {}): Promise<Shim> {
  const { server, caller } = await openDoor(undefined, options);
  const address = await server.open(caller);
  const target = fromBridgeEnvironment(toBridgeEnvironment(address));
  if (target === undefined) throw new Error("the environment names no server");
  const [input, output] = [new PassThrough(), new PassThrough()];
  const logged: string[] = [];
  const clock = manualClock();
  let parentId = 100;
  const ended = runStdioShim({
    input,
    output,
    target,
    clock,
    log: (level, message) => void logged.push(`${level} ${message}`),
    parent: () => parentId,
  });
  cleanup.push(async () => {
    input.end();
    await ended;
    await server.close();
  });
  return {
    agent: openStdioClient(input, output),
    input,
    output,
    ended,
    logged,
    clock,
    closeSession: () => address.close(),
    setParent: (id) => void (parentId = id),
  };
}

describe.each(["2025-06-18", "2025-11-25"])("an agent of %s", (revision) => {
  it("opens, lists and calls", async () => {
    const { agent } = await openShim();
    expect((await agent.ask(initialize(revision))).result).toMatchObject({ protocolVersion: revision });
    agent.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    const tools = await agent.ask({ jsonrpc: "2.0", id: 1, method: "tools/list" } as { id: number });
    expect(tools.result?.tools).toHaveLength(8);
    const call = await agent.ask(legacyCall("list_skills", {}, "b") as { id: string });
    expect(call.result).toMatchObject({ structuredContent: { next_cursor: null } });
  });
});

describe("an agent of 2026-07-28", () => {
  it("discovers, lists and calls without any header of its own", async () => {
    const { agent } = await openShim();
    let count = 0;
    const ask = (method: string, params?: Record<string, unknown>): ReturnType<StdioClient["ask"]> =>
      agent.ask({ ...(modernRequest(method, params).body as object), id: count++ });
    expect((await ask("server/discover")).result).toMatchObject({ supportedVersions: ["2026-07-28"] });
    expect((await ask("tools/list")).result?.tools).toHaveLength(8);
    const call = await ask("tools/call", { name: "read_skill_file", arguments: { name: "alpha", path: "SKILL.md" } });
    expect(call.result).toMatchObject({ structuredContent: { truncated: false } });
    expect((await ask("resources/read", { uri: "skill://alpha/SKILL.md" })).result?.contents).toHaveLength(1);
    const unknown = await ask("tools/call", { name: "naïve\ntool", arguments: {} });
    expect(unknown.error).toMatchObject({ code: -32602, data: { code: "METHOD_NOT_FOUND" } });
  });
});

describe("the shim", () => {
  it("carries requests side by side, and large answers whole", async () => {
    const { agent } = await openShim();
    const content = "é\u2028".repeat(200_000);
    const created = await agent.ask(
      legacyCall("create_blob", { content, kind: "text/plain" }, "create") as { id: string },
    );
    const { blob_id } = created.result?.structuredContent as { blob_id: string };
    const ids = Array.from({ length: 8 }, (_, index) => `read-${index}`);
    const read = { blob_id, mode: "full" };
    const answers = await Promise.all(ids.map((id) => agent.ask(legacyCall("read_blob", read, id) as { id: string })));
    for (const { result } of answers) {
      expect((result?.structuredContent as { content: string }).content === content).toBe(true);
    }
  });

  it("answers a line that is not JSON, and goes on", async () => {
    const { agent } = await openShim();
    agent.send("{");
    agent.send("");
    expect((await agent.wait(({ id }) => id === null)).error?.code).toBe(-32700);
    expect((await agent.ask(legacyCall("list_skills", {}) as { id: number })).result).toBeDefined();
    expect(agent.received).toHaveLength(2);
  });

  it("answers every request once the session is closed, and tells no secret", async () => {
    const { agent, closeSession } = await openShim();
    await closeSession();
    const { error } = await agent.ask(legacyCall("list_skills", {}, "late") as { id: string });
    expect(error).toMatchObject({ message: "There is nothing here." });
    expect(JSON.stringify(error)).not.toMatch(/127\.0\.0\.1|Bearer/);
  });

  it("cancels the call that the agent cancels", async () => {
    let cancelled = (): void => undefined;
    const isCancelled = new Promise<void>((resolve) => (cancelled = resolve));
    let start = (): void => undefined;
    const started = new Promise<void>((resolve) => (start = resolve));
    const toolbox: Pick<Toolbox, "call"> = {
      call: (_name, _args, _context, signal) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => {
            cancelled();
            reject(signal.reason as Error);
          });
          start();
        }),
    };
    const { agent } = await openShim({ wrap: () => toolbox });
    agent.send(legacyCall("list_skills", {}, "slow"));
    await started;
    agent.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "slow" } });
    await isCancelled;
    expect((await agent.ask({ jsonrpc: "2.0", id: "after", method: "ping" } as { id: string })).result).toEqual({});
    expect(agent.received.map(({ id }) => id)).toEqual(["after"]);
  });

  it("ends with the agent's end of the pipe", async () => {
    const { input, ended } = await openShim();
    input.end();
    await ended;
  });

  it("ends when the agent takes no more", async () => {
    const { output, ended } = await openShim();
    output.destroy();
    await ended;
  });

  it("ends when another process is its parent, though the pipe stays open", async () => {
    const { clock, setParent, ended, input } = await openShim();
    clock.pass(5_000);
    expect(input.destroyed).toBe(false);
    setParent(1);
    clock.pass(1_000);
    await ended;
  });
});

describe("the bridge's environment", () => {
  it.each([
    [{}],
    [{ ACP_SKILLS_MCP_URL: "http://127.0.0.1:1/x" }],
    [{ ACP_SKILLS_MCP_URL: "http://evil.example/x", ACP_SKILLS_MCP_AUTHORIZATION: "Bearer x" }],
    [{ ACP_SKILLS_MCP_URL: "https://127.0.0.1/x", ACP_SKILLS_MCP_AUTHORIZATION: "Bearer x" }],
    [{ ACP_SKILLS_MCP_URL: "127.0.0.1", ACP_SKILLS_MCP_AUTHORIZATION: "Bearer x" }],
  ])("names no server in %j", (environment) => {
    expect(fromBridgeEnvironment(environment)).toBeUndefined();
  });
});
