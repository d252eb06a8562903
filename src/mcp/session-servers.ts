import { type LoopbackAddress, openLoopbackServer } from "./session-servers/loopback-server.ts";
import type { McpCaller, McpApp } from "./mcp-caller.ts";
import { type SocketAddress, openSocketServer } from "./session-servers/socket-server.ts";

/** The address of one session's MCP server: over HTTP, or through `acp-skills mcp-bridge` and a socket. */
export type McpAddress = LoopbackAddress | SocketAddress;

/** The MCP servers of sessions, over both transports. */
export interface SessionServers {
  /** Opens a session's server, over HTTP at one port for all sessions, over stdio at its own socket. Rejects with CLOSED after `close`. */
  open(caller: McpCaller | Promise<McpCaller>, transport: "http" | "stdio"): Promise<McpAddress>;
  /** Closes all servers. Idempotent. */
  close(): Promise<void>;
}

export function openSessionServers(app: McpApp): SessionServers {
  const servers = { http: openLoopbackServer(app), stdio: openSocketServer(app) };
  return {
    open: (caller, transport) => servers[transport].open(caller),
    async close() {
      await Promise.all([servers.http.close(), servers.stdio.close()]);
    },
  };
}
