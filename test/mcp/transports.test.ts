import { PassThrough } from "node:stream";
import { runBridge } from "../../src/mcp/bridge.ts";
import { serveMcp } from "../../src/mcp/serve-mcp.ts";
import { silentLog } from "../../src/base/log.ts";
import { openMemoryRuns } from "../runtime/runs/memory-runs.ts";
import { type OpenTransport as OpenWay, describeTransports, transportScript, transportSkills } from "../transports.ts";
import { manualClock } from "../manual-clock.ts";
import { type OpenMcpApp, openMcpApp } from "./open-mcp-app.ts";
import { legacyCall, modernRequest, rawRequest } from "./raw-request.ts";
import { type StdioClient, openStdioClient } from "./stdio-client.ts";

type TransportReply = Awaited<ReturnType<OpenWay["call"]>>;

const openMcp = (project: string): Promise<OpenMcpApp> =>
  openMcpApp(Object.fromEntries(Object.entries(transportSkills).map(([file, text]) => [`/skills/${file}`, text])), {
    runs: openMemoryRuns(transportScript).runs,
    project,
  });

/** The outcome of a call from a tool result: its structured content, which its text repeats. */
function toReply({
  result,
  error,
}: {
  readonly result?: Record<string, unknown>;
  readonly error?: object;
}): TransportReply {
  if (result === undefined) throw new Error(`not the answer of a tool: ${JSON.stringify(error)}`);
  const [{ text }] = result.content as [{ text: string }];
  const content = JSON.parse(text) as unknown;
  if (JSON.stringify(result.structuredContent) !== text) throw new Error("the text says another thing");
  return result.isError === true ? { error: content as { code: number; data: object } } : { result: content };
}

function callOver(client: StdioClient): (tool: string, args: object) => Promise<TransportReply> {
  let id = 0;
  return async (tool, args) => toReply(await client.ask(legacyCall(tool, args, ++id) as { id: number }));
}

describeTransports("MCP over HTTP, before 2026-07-28", async (project) => {
  const { server, caller } = await openMcp(project);
  const address = await server.open(caller);
  return {
    call: async (tool, args) => toReply((await rawRequest(address, { body: legacyCall(tool, args) })).message),
    close: () => server.close(),
  };
});

describeTransports("MCP over HTTP, since 2026-07-28", async (project) => {
  const { server, caller } = await openMcp(project);
  const address = await server.open(caller);
  return {
    call: async (tool, args) =>
      toReply((await rawRequest(address, modernRequest("tools/call", { name: tool, arguments: args }))).message),
    close: () => server.close(),
  };
});

describeTransports("MCP over the bridge", async (project) => {
  const { sockets, caller } = await openMcp(project);
  const { path } = await sockets.open(caller);
  const [input, output] = [new PassThrough(), new PassThrough()];
  const streams = { input, output, path, log: silentLog, clock: manualClock() };
  const ended = runBridge({ ...streams, parent: () => 1 });
  return {
    call: callOver(openStdioClient(input, output)),
    async close() {
      input.end();
      await ended;
      await sockets.close();
    },
  };
});

describeTransports("MCP over stdio", async (project) => {
  const { app, caller } = await openMcp(project);
  const [input, output] = [new PassThrough(), new PassThrough()];
  const ended = serveMcp(app, caller, { input, output });
  return {
    call: callOver(openStdioClient(input, output)),
    async close() {
      input.end();
      await ended;
    },
  };
});
