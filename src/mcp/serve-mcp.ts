import type { Readable, Writable } from "node:stream";
import type { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Clock } from "../base/clock.ts";
import { declaresSkills } from "./client-message.ts";
import { openLineTransport } from "./socket/line-transport.ts";
import type { McpCaller, McpDoor } from "./mcp-door.ts";
import { openMcpServers } from "./mcp-server.ts";

export interface StdioStreams {
  readonly input: Readable;
  /** Belongs to the protocol. */
  readonly output: Writable;
  readonly clock: Clock;
  /** Aborted when nobody is there any more, although a stream may still look open. */
  readonly gone?: AbortSignal;
}

/** Bytes of one message. The largest blob of the default limits has room in it where JSON writes each byte as six. */
const maxMessageBytes = 64 * 1024 * 1024;

/** How long the last answers may take once the client has closed its end: for one that has gone, nothing is to run on. */
const lastAnswersTime = 5_000;

/**
 * Serves one MCP client over stdio, whatever revision it opens with. Resolves when the client has closed its end and has the answers to
 * all that it asked, or takes no more of them, or these take too long; what runs still is ended then.
 */
export async function serveMcp(door: McpDoor, caller: McpCaller, streams: StdioStreams): Promise<void> {
  const { input, output, clock, gone } = streams;
  const { log } = door;
  const makeServer = openMcpServers(door, caller);
  const servers = new Set<McpServer>();
  const stop = caller.skills.onChange?.(() => {
    for (const server of servers) tellOfChange(server, door);
  });
  let hasDeclared = false;
  const { transport, ended: inputEnded } = openLineTransport(input, output, {
    maxLineBytes: maxMessageBytes,
    onMessage: (message) => (hasDeclared ||= declaresSkills(message)),
  });
  let stopWaiting = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    input.once("end", () => {
      stopWaiting = clock.after(lastAnswersTime, () => {
        log("warning", "The client closed its end; what still runs for it is ended.");
        resolve();
      });
    });
    void inputEnded.then(resolve);
    for (const event of ["error", "close"] as const) output.on(event, () => resolve());
    gone?.addEventListener("abort", () => resolve(), { once: true });
  });
  const handle = serveStdio(
    async () => {
      const server = await makeServer({ tellsChanges: true, declaresSkills: hasDeclared, hasInstructions: true });
      if (hasDeclared) servers.add(server);
      server.server.onclose = () => void servers.delete(server);
      return server;
    },
    {
      transport,
      onerror: (error) => {
        log("info", `MCP: ${error.message}`);
      },
    },
  );
  await ended;
  stopWaiting();
  stop?.();
  await handle.close();
  input.destroy();
}

function tellOfChange(server: McpServer, { log }: McpDoor): void {
  if (!server.isConnected()) return;
  server.server.sendResourceListChanged().catch((error: unknown) => {
    log("info", `A client was not told that the skills changed: ${String(error)}`);
  });
}
