import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { SkillsError } from "../errors.ts";
import { admitRequest, isRefusal, toPathKey } from "./admit-request.ts";
import { openLoopbackSession } from "./loopback-session.ts";
import type { LoopbackSession } from "./loopback-session.ts";
import type { McpCaller, McpDoor } from "./mcp-door.ts";
import { newToken } from "./random-token.ts";
import { refuse } from "./refusal.ts";

/** Where one session's MCP server is, and what opens it. Both are secrets. */
export interface LoopbackAddress {
  readonly url: string;
  readonly headers: Readonly<Record<"Authorization", string>>;
  /** Gives up what is being answered; from then on the path is one that never was. May be called more than once. */
  close(): Promise<void>;
}

/** MCP over HTTP for the agents that this process wraps. */
export interface LoopbackServer {
  /** Listens from the first call on. Throws CLOSED after `close`. */
  open(caller: McpCaller): Promise<LoopbackAddress>;
  /** Closes every session and every connection. May be called more than once. */
  close(): Promise<void>;
}

/**
 * One HTTP server for all sessions, each behind a random path and a bearer token of its own. It listens on 127.0.0.1 only,
 * and never keeps this process alive.
 */
export function openLoopbackServer(door: McpDoor): LoopbackServer {
  const sessions = new Map<string, LoopbackSession>();
  let listening: Promise<Server> | undefined;
  let isClosed = false;

  async function listen(): Promise<Server> {
    const server = createServer((request, response) => {
      answer(request, response).catch((error: unknown) => {
        door.log("warning", `An MCP request was not answered: ${String(error)}`);
        response.destroy();
      });
    });
    server.on("connection", (socket) => void socket.unref());
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(0, "127.0.0.1", resolve);
    });
    // Where the process has no descriptors left, each connection that cannot be taken comes by here; without this it would end us.
    server.on("error", (error) => {
      door.log("warning", `The MCP server could not take a connection: ${String(error)}`);
    });
    return server.unref();
  }

  /** A failure is not kept: the next session may have more luck. */
  function listened(): Promise<Server> {
    listening ??= listen().catch((error: unknown) => {
      listening = undefined;
      throw error;
    });
    return listening;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url: target, headers, socket } = request;
    const { host, origin, authorization } = headers;
    const head = { method, target, host, origin, authorization };
    const admitted = admitRequest(head, socket.localPort ?? 0, sessions);
    if (isRefusal(admitted)) refuse(response, admitted);
    else await admitted.answer(request, response);
  }

  async function closeSession(key: string): Promise<void> {
    const session = sessions.get(key);
    sessions.delete(key);
    await session?.close();
  }

  return {
    async open(caller) {
      const server = isClosed ? undefined : await listened();
      if (server?.listening !== true) throw new SkillsError("CLOSED", "The MCP server was closed.");
      const { port } = server.address() as AddressInfo;
      const path = `/mcp/${newToken()}`;
      const token = newToken();
      const key = toPathKey(path);
      sessions.set(key, openLoopbackSession(door, caller, token));
      return {
        url: `http://127.0.0.1:${port}${path}`,
        headers: { Authorization: `Bearer ${token}` },
        close: () => closeSession(key),
      };
    },
    async close() {
      isClosed = true;
      const server = await listening?.catch(() => undefined);
      await Promise.all([...sessions.keys()].map(closeSession));
      if (server?.listening !== true) return;
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      });
    },
  };
}
