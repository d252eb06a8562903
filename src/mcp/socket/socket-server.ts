import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import { SkillsError } from "../../errors.ts";
import type { McpCaller, McpDoor } from "../mcp-door.ts";
import { makePrivateDirectory, sweepPrivateDirectories } from "./private-directory.ts";
import { newToken } from "../loopback/random-token.ts";
import { serveMcp } from "../serve-mcp.ts";

/** Where one session's MCP server is, for the bridge. Who knows the path must still be this user to connect. */
export interface SocketAddress {
  readonly path: string;
  /** Gives up what is being answered, and stops listening. May be called more than once. */
  close(): Promise<void>;
}

/** MCP over a socket that only this user can reach, for agents that start the bridge. */
export interface SocketServer {
  /** Throws CLOSED after `close`, and where no private place can be had. */
  open(caller: McpCaller): Promise<SocketAddress>;
  /** Closes every session and every connection, and removes what was made. May be called more than once. */
  close(): Promise<void>;
}

/** Agents start one bridge a session, and a new one where they connect again. */
const connectionsASession = 16;

/**
 * One socket a session, in a directory of mode 0700. On Windows a named pipe, which by default only its creator, administrators and
 * the system may write to: other users can ask nothing. Never keeps this process alive.
 */
export function openSocketServer(
  door: McpDoor,
  clock: Clock,
  platform: NodeJS.Platform = process.platform,
): SocketServer {
  const sessions = new Set<SocketAddress>();
  let directory: string | undefined;
  let isClosed = false;

  function newPath(): string {
    if (platform === "win32") return `\\\\.\\pipe\\acp-skills-${newToken()}`;
    if (directory === undefined) {
      directory = makePrivateDirectory();
      void sweepPrivateDirectories();
    }
    return join(directory, randomBytes(6).toString("hex"));
  }

  async function listen(caller: McpCaller): Promise<SocketAddress> {
    const path = newPath();
    const connections = new Set<Socket>();
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      connections.add(socket.unref());
      void serveConnection(socket, caller).finally(() => connections.delete(socket));
    });
    server.maxConnections = connectionsASession;
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve));
    // Where the process has no descriptors left, each connection that cannot be taken comes by here; without this it would end us.
    server.on("error", (error) => door.log("warning", `The MCP server could not take a connection: ${String(error)}`));
    server.unref();
    const address: SocketAddress = {
      path,
      async close() {
        if (!sessions.delete(address)) return;
        for (const socket of connections) socket.destroy();
        await closed(server);
      },
    };
    return address;
  }

  async function serveConnection(socket: Socket, caller: McpCaller): Promise<void> {
    // Ends the input, when serving is over, without the socket: the last answers are to leave by it.
    const input = new PassThrough();
    const gone = new AbortController();
    socket.once("close", () => gone.abort()).on("error", () => undefined);
    try {
      await serveMcp(door, caller, { input: socket.pipe(input), output: socket, clock, gone: gone.signal });
    } catch (error) {
      door.log("warning", `Serving MCP over a socket failed: ${String(error)}`);
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

async function closed(server: Server): Promise<void> {
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
