import { once } from "node:events";
import { PassThrough } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import type { McpApp } from "../../src/mcp/mcp-caller.ts";
import { serveMcp } from "../../src/mcp/serve-mcp.ts";
import { type ManualClock, manualClock } from "../manual-clock.ts";
import { openMcpApp } from "./open-mcp-app.ts";
import { legacyCall, modernRequest, speaksSkills } from "./raw-request.ts";
import { type StdioMessage, initialize, openStdioClient } from "./stdio-client.ts";

async function open() {
  const { app, caller, files, catalog } = await openMcpApp();
  const [input, output] = [new PassThrough(), new PassThrough()];
  const ended = serveMcp(app, caller, { input, output });
  return { client: openStdioClient(input, output), input, output, ended, files, catalog };
}

/** Responds a turn of the event loop later, like a sandbox. */
function withDelay(app: McpApp): McpApp {
  const toolbox: McpApp["toolbox"] = {
    ...app.toolbox,
    async call(...call) {
      for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
      return await app.toolbox.call(...call);
    },
  };
  return { ...app, toolbox };
}

const isChange = ({ method }: StdioMessage): boolean => method === "notifications/resources/list_changed";
const gamma = "---\nname: gamma\ndescription: Does gamma.\n---\n";

describe("MCP over stdio", () => {
  it.each(["2025-06-18", "2025-11-25"])(
    "serves a client of %s, and notifies it of changes if it supports the Skills extension",
    async (revision) => {
      const { client, input, ended, files, catalog } = await open();
      expect((await client.ask(initialize(revision, speaksSkills))).result).toMatchObject({
        protocolVersion: revision,
        capabilities: { resources: { listChanged: true }, tools: { listChanged: false } },
      });
      client.send({ jsonrpc: "2.0", method: "notifications/initialized" });
      expect((await client.ask(legacyCall("list_skills", {}) as { id: number })).result).toBeDefined();
      files.write("/skills/gamma/SKILL.md", gamma);
      await catalog.reload();
      await client.wait(isChange);
      input.end();
      await ended;
    },
  );

  it.each(["2025-06-18", "2025-11-25"])(
    "offers no resources to a client of %s without the extension, and does not notify it of changes",
    async (revision) => {
      const { client, input, ended, files, catalog } = await open();
      const opened = await client.ask(initialize(revision));
      expect(opened.result?.capabilities).not.toHaveProperty("resources");
      files.write("/skills/gamma/SKILL.md", gamma);
      await catalog.reload();
      await client.ask(legacyCall("list_skills", {}) as { id: number });
      expect(client.received).toHaveLength(2);
      input.end();
      await ended;
    },
  );

  it("offers resources only to a client of 2026-07-28 that declares the extension", async () => {
    for (const [capabilities, offered] of [
      [{}, undefined],
      [speaksSkills, { listChanged: true }],
    ] as const) {
      const { client, input, ended } = await open();
      const discover = modernRequest("server/discover", {}, capabilities).body as object;
      const { result } = await client.ask({ ...discover, id: 1 });
      expect((result?.capabilities as { resources?: object }).resources).toEqual(offered);
      input.end();
      await ended;
    }
  });

  it("serves a client of 2026-07-28, after a probe as well", async () => {
    const { client, input, ended } = await open();
    const ask = (method: string, id: number, params = {}): Promise<StdioMessage> =>
      client.ask({ ...(modernRequest(method, params).body as object), id });
    expect((await ask("server/discover", 1)).result).toMatchObject({ supportedVersions: ["2026-07-28"] });
    expect((await ask("tools/list", 2)).result?.tools).toHaveLength(8);
    expect((await ask("skills/list", 3)).result?.skills).toHaveLength(2);
    input.end();
    await ended;
  });

  it("falls back for a client that probes for 2026-07-28 and then initializes with 2025-11-25", async () => {
    const { client, input, ended } = await open();
    await client.ask({ ...(modernRequest("server/discover").body as object), id: "probe" });
    expect((await client.ask(initialize("2025-11-25"))).result).toMatchObject({ protocolVersion: "2025-11-25" });
    input.end();
    await ended;
  });

  it.each([
    [
      "before 2026-07-28",
      [initialize("2025-11-25"), legacyCall("list_skills", {}, 1), legacyCall("list_skills", {}, 2)],
    ],
    [
      "since 2026-07-28, beside a subscription that never ends",
      [
        { ...(modernRequest("subscriptions/listen", { notifications: {} }).body as object), id: 0 },
        { ...(modernRequest("tools/call", { name: "list_skills", arguments: {} }).body as object), id: 1 },
        { ...(modernRequest("tools/call", { name: "list_skills", arguments: {} }).body as object), id: 2 },
      ],
    ],
  ])("answers all requests that precede the end of the input, %s", async (_when, messages) => {
    const { app, caller } = await openMcpApp();
    const answering = withDelay(app);
    const [input, output] = [new PassThrough(), new PassThrough()];
    input.end(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
    await serveMcp(answering, caller, { input, output });
    output.end();
    const text = (await output.toArray()).join("");
    const answers = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as StdioMessage);
    expect(answers.filter(({ id, result }) => (id === 1 || id === 2) && result !== undefined)).toHaveLength(2);
  });

  it("does not wait for a cancelled request", async () => {
    const { app, caller } = await openMcpApp();
    const toolbox = { ...app.toolbox, call: () => new Promise<never>(() => undefined) };
    const [input, output] = [new PassThrough(), new PassThrough()];
    const ended = serveMcp({ ...app, toolbox }, caller, { input, output });
    const client = openStdioClient(input, output);
    await client.ask(initialize("2025-11-25"));
    client.send(legacyCall("list_skills", {}, 7));
    client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } });
    input.end();
    await ended;
  });

  it.each([
    ["the client closed its input", (output: PassThrough) => void output.destroy()],
    [
      "the client is gone",
      (_output: PassThrough, gone: AbortController) => {
        gone.abort();
      },
    ],
    [
      "the client closed its end five seconds ago",
      async (_output: PassThrough, _gone: AbortController, clock: ManualClock) => {
        await vi.waitFor(() => {
          expect(clock.pending).toBe(1);
        });
        clock.pass(5_000);
      },
    ],
  ])("cancels running calls and ends when %s", async (_why, leave) => {
    const { app, caller } = await openMcpApp();
    const [input, output] = [new PassThrough(), new PassThrough()];
    const gone = new AbortController();
    const clock = manualClock();
    let given: AbortSignal | undefined;
    const called = new Promise<void>((resolve) => {
      const toolbox: McpApp["toolbox"] = {
        ...app.toolbox,
        call: (_name, _args, _context, signal) => {
          given = signal;
          resolve();
          return new Promise<never>(() => undefined);
        },
      };
      const streams = { input, output, gone: gone.signal };
      void serveMcp({ ...app, clock, toolbox }, caller, streams).then(() => input.emit("served"));
    });
    const client = openStdioClient(input, output);
    await client.ask(initialize("2025-11-25"));
    client.send(legacyCall("list_skills", {}, 7));
    await called;
    const served = once(input, "served");
    input.end();
    await leave(output, gone, clock);
    await served;
    expect(given?.aborted).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it("accepts a message of 15 MiB", async () => {
    const { client, input, ended } = await open();
    const content = "A".repeat(15 * 1024 * 1024);
    const answer = await client.ask(legacyCall("create_blob", { content, kind: "text/plain" }) as { id: number });
    expect(answer.result).toMatchObject({ isError: true, structuredContent: { data: { code: "BLOB_TOO_LARGE" } } });
    input.end();
    await ended;
  });

  it("accepts the largest blob, even if JSON escapes every byte", async () => {
    const { client, input, ended } = await open();
    const content = "\u0001".repeat(10 * 1024 * 1024);
    const answer = await client.ask(legacyCall("create_blob", { content, kind: "text/plain" }) as { id: number });
    expect(answer.result).toMatchObject({ structuredContent: { size_bytes: content.length } });
    input.end();
    await ended;
  });

  it("answers each invalid line with an error, with its id if it has one, and continues to serve", async () => {
    const { client, input, output, ended } = await open();
    await client.ask(initialize("2025-11-25"));
    const lines = [
      ["{", -32700, null],
      ["\u0000", -32700, null],
      ["null", -32600, null],
      ["[]", -32600, null],
      ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, null],
      ["{}", -32600, null],
      ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, null],
      ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, null],
      ['{"jsonrpc":"2.0","id":1e999,"method":"ping"}', -32600, null],
      ['{"jsonrpc":"2.0","id":{"a":1},"method":"tools/list"}', -32600, null],
      ['{"jsonrpc":"2.0","id":[7],"method":"tools/list"}', -32600, null],
      ['{"jsonrpc":"2.0","id":true,"method":"tools/list"}', -32600, null],
      ['{"jsonrpc":"2.0","id":7,"method":5}', -32600, 7],
      ['{"jsonrpc":"2.0","id":"a","method":"ping","params":[]}', -32600, "a"],
      ['{"jsonrpc":"1.0","id":8,"method":"ping"}', -32600, 8],
      ['{"id":9,"method":"ping"}', -32600, 9],
      ['{"jsonrpc":"2.0","method":5}', -32600, null],
    ] as const;
    for (const [line] of lines) client.send(line);
    for (const line of ["", "  ", '{"jsonrpc":"2.0","id":1,"result":5}', '{"jsonrpc":"2.0","id":{},"error":{}}'])
      client.send(line);
    expect((await client.ask(legacyCall("list_skills", {}, "after") as { id: string })).result).toBeDefined();
    const refused = client.received.filter(({ error }) => error !== undefined);
    expect(refused.map(({ id, error }) => [error?.code, id])).toEqual(lines.map(([, code, id]) => [code, id]));
    expect(client.received).toHaveLength(lines.length + 2);
    input.end();
    await ended;
    output.end();
  });

  it("ends when a line exceeds the limit", async () => {
    const { input, ended } = await open();
    const piece = Buffer.alloc(8 * 1024 * 1024, "x");
    for (let count = 0; count < 9; count++) input.write(piece);
    await ended;
  });

  it("ends when the client closes its input, and unsubscribes from changes", async () => {
    const { output, ended, files, catalog } = await open();
    output.destroy(new Error("gone"));
    await ended;
    files.write("/skills/gamma/SKILL.md", gamma);
    expect((await catalog.reload()).skills).toHaveLength(4);
  });
});
