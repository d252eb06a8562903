import { chmodSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { runBridge } from "../../src/mcp/bridge.ts";
import { manualClock } from "../manual-clock.ts";
import { openMcpApp } from "./open-mcp-app.ts";
import { legacyCall, modernRequest } from "./raw-request.ts";
import { type StdioClient, initialize, openStdioClient } from "./stdio-client.ts";
import { waitingToolbox } from "./waiting-toolbox.ts";

const cleanup: (() => unknown)[] = [];

afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});

interface Bridge {
  readonly agent: StdioClient;
  readonly input: PassThrough;
  readonly output: PassThrough;
  /** Whether the socket could be used. */
  readonly ended: Promise<boolean>;
  readonly logged: string[];
  readonly clock: ReturnType<typeof manualClock>;
  readonly setParent: (id: number) => void;
}

function startBridge(path: string): Bridge {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const logged: string[] = [];
  const clock = manualClock();
  let parentId = 100;
  const ended = runBridge({
    input,
    output,
    path,
    clock,
    log: (level, message) => void logged.push(`${level} ${message}`),
    parent: () => parentId,
  });
  cleanup.push(async () => {
    input.end();
    await ended;
  });
  const agent = openStdioClient(input, output);
  return { agent, input, output, ended, logged, clock, setParent: (id) => void (parentId = id) };
}

async function openBridge(
  options: Parameters<typeof openMcpApp>[1] = {},
): Promise<Bridge & { closeSession: () => Promise<void> }> {
  const { sockets, caller } = await openMcpApp(undefined, options);
  const address = await sockets.open(caller);
  cleanup.push(() => sockets.close());
  return { ...startBridge(address.path), closeSession: () => address.close() };
}

describe.each(["2025-06-18", "2025-11-25"])("an agent of %s", (revision) => {
  it("initializes, lists and calls tools", async () => {
    const { agent } = await openBridge();
    expect((await agent.ask(initialize(revision))).result).toMatchObject({ protocolVersion: revision });
    agent.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    const tools = await agent.ask({ jsonrpc: "2.0", id: 1, method: "tools/list" } as { id: number });
    expect(tools.result?.tools).toHaveLength(8);
    const call = await agent.ask(legacyCall("list_skills", {}, "b") as { id: string });
    expect(call.result).toMatchObject({ structuredContent: { next_cursor: null } });
  });
});

describe("an agent of 2026-07-28", () => {
  it("discovers, lists and calls tools without sending headers", async () => {
    const { agent } = await openBridge();
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

describe("the bridge", () => {
  it("carries concurrent requests and large answers", async () => {
    const { agent } = await openBridge();
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

  it("cancels the call that the agent cancels", async () => {
    const { wrap, started, cancelled } = waitingToolbox();
    const { agent } = await openBridge({ wrap });
    agent.send(legacyCall("list_skills", {}, "slow"));
    await started;
    agent.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "slow" } });
    await cancelled;
    expect((await agent.ask({ jsonrpc: "2.0", id: "after", method: "ping" } as { id: string })).result).toEqual({});
    expect(agent.received.map(({ id }) => id)).toEqual(["after"]);
  });

  it("ends when the agent has closed its end and its requests are answered", async () => {
    const { agent, input, ended } = await openBridge();
    const answer = agent.ask(legacyCall("list_skills", {}, "last") as { id: string });
    input.end();
    expect(await ended).toBe(true);
    expect((await answer).result).toBeDefined();
  });

  it("ends with the session, and cancels its calls", async () => {
    const { wrap, started, cancelled } = waitingToolbox();
    const { agent, ended, closeSession, logged } = await openBridge({ wrap });
    agent.send(legacyCall("list_skills", {}, "slow"));
    await started;
    await closeSession();
    await cancelled;
    expect([await ended, logged]).toEqual([true, []]);
  });

  it("ends when the agent closes its input", async () => {
    const { output, ended } = await openBridge();
    output.destroy();
    await ended;
  });

  it("ends when its parent process exits, although the pipe stays open", async () => {
    const { clock, setParent, ended, input, agent } = await openBridge();
    await agent.ask(initialize("2025-11-25"));
    clock.pass(5_000);
    expect(input.destroyed).toBe(false);
    setParent(1);
    clock.pass(1_000);
    await ended;
  });

  it("logs an error if nothing listens", async () => {
    const { sockets, caller } = await openMcpApp();
    const { path } = await sockets.open(caller);
    cleanup.push(() => sockets.close());
    const { ended, logged } = startBridge(join(dirname(path), "gone"));
    expect(await ended).toBe(false);
    expect(logged).toEqual([expect.stringContaining("Could not connect to the skills server: connect ENOENT")]);
  });

  it.runIf(process.platform !== "win32").each([
    [
      "that others may use",
      (directory: string) => (chmodSync(directory, 0o711), directory),
      "other users have access to it",
    ],
    [
      "behind a link",
      (directory: string) => (symlinkSync(directory, `${directory}-link`), `${directory}-link`),
      "it is not a directory",
    ],
  ])("does not connect to a socket in a directory %s", async (_what, prepare, fault) => {
    const made = mkdtempSync(join(tmpdir(), "acp-skills-test-"));
    const directory = prepare(made);
    const connections: unknown[] = [];
    const server = createServer((socket) => connections.push(socket.destroy()));
    cleanup.push(
      () => server.close(),
      () => rmSync(made, { recursive: true }),
      () => rmSync(`${made}-link`, { force: true }),
    );
    await new Promise<void>((resolve) => server.listen(join(directory, "s"), resolve));
    const { ended, logged } = startBridge(join(directory, "s"));
    expect(await ended).toBe(false);
    expect(logged).toEqual([expect.stringContaining(fault)]);
    expect(connections).toEqual([]);
  });
});
