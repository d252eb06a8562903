import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { PeerUsers } from "../../base/network/peer-users.ts";
import {
  createPeerCheck,
  type HttpRefusal,
  isRefusal,
  nothingHere,
  onlyPost,
  refuse,
  unauthorized,
  bearerToken,
  checkHostAndOrigin,
  isToken,
  newToken,
  toTokenDigest,
} from "../../wire/http.ts";
import { SkillsError, isSkillsError } from "../../base/errors.ts";
import type { HttpMcp } from "../streamable-http.ts";
import type { CallerServers, McpCaller, McpApp } from "../mcp-caller.ts";

/** The URL of one session's MCP server, and the header that grants access. Both are secrets. */
export interface LoopbackAddress {
  readonly url: string;
  readonly headers: Readonly<Record<"Authorization", string>>;
  /** Cancels the session's running calls. Its path is unknown afterwards. Idempotent. */
  close(): Promise<void>;
}

/** The MCP server of one caller, which requests reach with its path and token. */
type LoopbackMcp = HttpMcp & { readonly tokenDigest: Buffer };

/** The maximum number of connections, far more than an agent opens. Further ones are closed at once, to save file descriptors. */
const maxConnections = 512;
/** The maximum time for the head of a request, and the interval at which that is checked. */
const timeouts = { headersTimeout: 5_000, connectionsCheckingInterval: 1_000 };

/**
 * The refusal if the code of the server cannot be loaded, such as after its package was replaced. The agent then shows this text instead
 * of the text of a lost connection.
 */
const notServed: HttpRefusal = Object.freeze({
  status: 503,
  code: "ENDPOINT_UNREACHABLE",
  message: "The tools of skills cannot be loaded; the log of acp-skills says why. Start the session again.",
});

/**
 * Serves MCP over HTTP to the agents that this process wraps. One server, on 127.0.0.1 only, serves all sessions; each session has a
 * random path and bearer token. Never keeps this process alive. Agents expose path and token to other users, such as on a command line. On
 * systems that reveal the user of a connection, only this user and root are answered.
 */
export function openLoopbackServer(app: McpApp, peers?: PeerUsers): CallerServers<LoopbackAddress> {
  const sessions = new Map<string, LoopbackMcp>();
  const isOwnPeer = createPeerCheck(app.log, "the MCP server", peers);
  let listening: Promise<Server> | undefined;
  let isClosed = false;

  async function listen(): Promise<Server> {
    const server = createServer(timeouts, (request, response) => {
      answer(request, response).catch((error: unknown) => {
        app.log("warning", `An MCP request failed: ${String(error)}`);
        if (response.headersSent) response.destroy();
        else refuse(response, isSkillsError(error) && error.code === "CLOSED" ? nothingHere : notServed);
      });
    });
    server.maxConnections = maxConnections;
    server.on("connection", (socket) => {
      socket.unref();
      void isOwnPeer(socket).then((isOwn) => {
        if (!isOwn) socket.destroy();
      });
    });
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
    // "error" is emitted for each connection refused for lack of file descriptors. Without a listener it would end the process.
    server.on("error", (error) => app.log("warning", `The MCP server could not accept a connection: ${String(error)}`));
    return server.unref();
  }

  /** Starts to listen once. A failure is not cached: the next session tries again. */
  function listened(): Promise<Server> {
    listening ??= listen().catch((error: unknown) => {
      listening = undefined;
      throw error;
    });
    return listening;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    if (!(await isOwnPeer(socket))) return;
    const called = admitRequest(request, socket.localPort ?? 0, sessions);
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
      sessions.set(key, { ...openWhenCalled(app, caller), tokenDigest: toTokenDigest(token) });
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
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

/** Opens a session's MCP server with its first request: it is much code, and what the user sees is loaded first. */
function openWhenCalled(app: McpApp, caller: McpCaller | Promise<McpCaller>): HttpMcp {
  let opening: Promise<HttpMcp> | undefined;
  async function open(): Promise<HttpMcp> {
    const [known, { openHttpMcp }] = await Promise.all([caller, import("../streamable-http.ts")]);
    return openHttpMcp(app, known);
  }
  return {
    async answer(...exchange) {
      // A failure is not cached: the next request tries again.
      opening ??= open().catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      await (await opening).answer(...exchange);
    },
    close: async () => await (await opening?.catch(() => undefined))?.close(),
  };
}

/** Makes the key of a path: its digest, so that the time of a lookup reveals nothing about other paths. */
function toPathKey(path: string): string {
  return toTokenDigest(path).toString("base64");
}

/**
 * Finds the session of a request, or why the request is refused. Against DNS rebinding, Host, and Origin if present, must be those of this
 * server. The path of a closed session is refused like an unknown path.
 */
function admitRequest(
  request: IncomingMessage,
  port: number,
  paths: ReadonlyMap<string, LoopbackMcp>,
): LoopbackMcp | HttpRefusal {
  const { method, url, headers } = request;
  const refusal = checkHostAndOrigin(request, { hosts: [`127.0.0.1:${port}`, `localhost:${port}`] });
  if (refusal !== undefined) return refusal;
  const session = url === undefined ? undefined : paths.get(toPathKey(url));
  if (session === undefined) return nothingHere;
  const token = bearerToken(headers.authorization);
  if (token === undefined || !isToken(token, session.tokenDigest)) return unauthorized();
  return method === "POST" ? session : onlyPost();
}
