import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { type Socket, createServer } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { SkillsError } from "../../base/errors.ts";
import type { CallerServers, McpCaller, McpApp } from "../mcp-caller.ts";
import { makeSocketDirectory, sweepPrivateDirectories } from "./private-directory.ts";
import { newToken } from "../../wire/http.ts";

/** The socket at which the bridge reaches one session's MCP server. Only this user can connect, even if other users know the path. */
export interface SocketAddress {
  readonly path: string;
  /** Cancels the session's running calls and stops listening. Idempotent. */
  close(): Promise<void>;
}

/** The maximum number of connections per session. Agents spawn one bridge per session, and another when they reconnect. */
const connectionsASession = 16;

/**
 * Serves MCP over sockets that only this user can reach, for agents that spawn the bridge. Each session has a socket, in a directory of
 * mode 0700, which `close` removes. On Windows it has a named pipe, to which by default only its creator, administrators and the system
 * may write. Never keeps this process alive. `open` rejects with INTERNAL if the new directory is not private.
 */
export function openSocketServer(
  app: McpApp,
  platform: NodeJS.Platform = process.platform,
): CallerServers<SocketAddress> {
  const sessions = new Set<SocketAddress>();
  let directory: string | undefined;
  let isClosed = false;

  function newPath(): string {
    if (platform === "win32") return `\\\\.\\pipe\\acp-skills-${newToken()}`;
    if (directory === undefined) {
      directory = makeSocketDirectory();
      void sweepPrivateDirectories();
    }
    return join(directory, randomBytes(6).toString("hex"));
  }

  async function listen(caller: McpCaller | Promise<McpCaller>): Promise<SocketAddress> {
    const path = newPath();
    const connections = new Set<Socket>();
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      connections.add(socket.unref());
      void serveConnection(socket, caller).finally(() => connections.delete(socket));
    });
    server.maxConnections = connectionsASession;
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve));
    // "error" is emitted for each connection refused for lack of file descriptors. Without a listener it would end the process.
    server.on("error", (error) => app.log("warning", `The MCP server could not accept a connection: ${String(error)}`));
    server.unref();
    const address: SocketAddress = {
      path,
      async close() {
        if (!sessions.delete(address)) return;
        for (const socket of connections) socket.destroy();
        await new Promise<void>((resolve) => server.close(() => resolve()));
      },
    };
    return address;
  }

  async function serveConnection(socket: Socket, caller: McpCaller | Promise<McpCaller>): Promise<void> {
    // Serving destroys its input at the end; the socket stays open until the last answers are written.
    const input = new PassThrough();
    const gone = new AbortController();
    socket.once("close", () => gone.abort()).on("error", () => undefined);
    try {
      const [known, { serveMcp }] = await Promise.all([caller, import("../serve-mcp.ts")]);
      if (socket.destroyed) return;
      await serveMcp(app, known, { input: socket.pipe(input), output: socket, gone: gone.signal });
    } catch (error) {
      app.log("warning", `Serving MCP over a socket failed: ${String(error)}`);
    } finally {
      socket.destroySoon();
    }
  }

  return {
    async open(caller) {
      const address = isClosed ? undefined : await listen(caller);
      if (address !== undefined) sessions.add(address);
      if (!isClosed && address !== undefined) return address;
      await address?.close();
      throw new SkillsError("CLOSED", "The MCP server was closed.");
    },
    async close() {
      isClosed = true;
      await Promise.all([...sessions].map((session) => session.close()));
      if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
}
