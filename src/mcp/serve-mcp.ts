import type { Readable, Writable } from "node:stream";
import type { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { declaresSkills } from "./client-message.ts";
import { openLineTransport } from "./socket/line-transport.ts";
import type { McpCaller, McpDoor } from "./mcp-door.ts";
import { openMcpServers } from "./mcp-server.ts";

export interface StdioStreams {
  readonly input: Readable;
  /** Carries nothing but the protocol. */
  readonly output: Writable;
  /** Aborted when the client has exited, even if a stream still seems open. */
  readonly gone?: AbortSignal;
}

/** Largest message: the largest blob under the default limits fits even if JSON escapes every byte as six. */
const maxMessageBytes = 64 * 1024 * 1024;

/** How long calls may go on after the client closed its end. */
const lastAnswersTime = 5_000;

/**
 * Serves one MCP client over stdio, in any revision. Resolves when the client closed its end and every request is answered or took too
 * long, or when the output is closed. Calls that still run are cancelled.
 */
export async function serveMcp(door: McpDoor, caller: McpCaller, streams: StdioStreams): Promise<void> {
  const { input, output, gone } = streams;
  const { log, clock } = door;
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
        log("warning", "The client closed its end; calls that still ran were cancelled.");
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
    log("info", `A change of the skills could not be announced to a client: ${String(error)}`);
  });
}
