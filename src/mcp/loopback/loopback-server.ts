import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { SkillsError } from "../../errors.ts";
import { canTellPeerUsers, openPeerUsers } from "./peer-users.ts";
import type { PeerUsers } from "./peer-users.ts";
import { openToldOnce } from "../../base/log.ts";
import { isRefusal, refuse } from "../../wire/http/refusal.ts";
import { newToken, toTokenDigest } from "../../wire/http/token.ts";
import { admitRequest, toPathKey } from "./admit-request.ts";
import type { Guarded } from "./admit-request.ts";
import { openHttpMcp } from "../streamable-http.ts";
import type { HttpMcp } from "../streamable-http.ts";
import type { McpCaller, McpDoor } from "../mcp-door.ts";

/** The URL of one session's MCP server, and the header that grants access. Both are secrets. */
export interface LoopbackAddress {
  readonly url: string;
  readonly headers: Readonly<Record<"Authorization", string>>;
  /** Cancels running calls; afterwards the path is unknown. Idempotent. */
  close(): Promise<void>;
}

/** MCP over HTTP, for the agents that this process wraps. */
export interface LoopbackServer {
  /** The first call starts to listen. Throws CLOSED after `close`. */
  open(caller: McpCaller): Promise<LoopbackAddress>;
  /** Closes every session and connection. Idempotent. */
  close(): Promise<void>;
}

/** The MCP server of one caller, behind a path and a token. */
type LoopbackSession = HttpMcp & Guarded;

/** Far more than one agent opens; further connections are closed immediately, so that file descriptors are left for other work. */
const mostConnections = 512;
/** How long a client may take to send the request head, and how often that is checked. */
const headersTimeout = 5_000;
const connectionsCheckingInterval = 1_000;

/**
 * One HTTP server for all sessions, each with a random path and bearer token, on 127.0.0.1 only. Never keeps this process alive.
 * Agents expose path and token to other users, such as on a command line: on systems that reveal the user of a connection, only this user
 * and root are answered.
 */
export function openLoopbackServer(
  door: McpDoor,
  peers: PeerUsers | undefined = canTellPeerUsers() ? openPeerUsers() : undefined,
): LoopbackServer {
  const sessions = new Map<string, LoopbackSession>();
  const admitted = new WeakMap<Socket, Promise<boolean>>();
  const { tellOnce } = openToldOnce(door.log);
  let listening: Promise<Server> | undefined;
  let isClosed = false;

  async function listen(): Promise<Server> {
    const server = createServer({ headersTimeout, connectionsCheckingInterval }, (request, response) => {
      answer(request, response).catch((error: unknown) => {
        door.log("warning", `An MCP request failed: ${String(error)}`);
        response.destroy();
      });
    });
    server.maxConnections = mostConnections;
    server.on("connection", (socket) => {
      socket.unref();
      if (peers !== undefined) admitted.set(socket, admit(socket, peers));
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(0, "127.0.0.1", resolve);
    });
    // Emitted for each connection refused for lack of file descriptors; without a listener it would end the process.
    server.on("error", (error) => {
      door.log("warning", `The MCP server could not accept a connection: ${String(error)}`);
    });
    return server.unref();
  }

  /** A failure is not kept: the next session tries again. */
  function listened(): Promise<Server> {
    listening ??= listen().catch((error: unknown) => {
      listening = undefined;
      throw error;
    });
    return listening;
  }

  /** Whether the client is this user or root; closes the connection otherwise. */
  async function admit(socket: Socket, { userOf }: PeerUsers): Promise<boolean> {
    const user = await userOf(socket).catch((error: unknown) => {
      tellOnce("warning", `MCP connections are refused because their user cannot be determined: ${String(error)}`);
      return undefined;
    });
    // While the socket is open here, no other connection can have its port.
    const isAdmitted = !socket.destroyed && (user === 0 || user === process.geteuid?.());
    if (!isAdmitted) socket.destroy();
    if (user !== undefined && !isAdmitted) {
      tellOnce("warning", `A connection to the MCP server by another user of this machine (uid ${user}) was refused.`);
    }
    return isAdmitted;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url: target, headers, socket } = request;
    if ((await admitted.get(socket)) === false) return;
    const { host, origin, authorization } = headers;
    const head = { method, target, host, origin, authorization };
    const called = admitRequest(head, socket.localPort ?? 0, sessions);
    if (isRefusal(called)) refuse(response, called);
    else await called.answer(request, response);
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
      sessions.set(key, { ...openHttpMcp(door, caller), tokenDigest: toTokenDigest(token) });
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
