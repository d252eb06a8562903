import { type RequestListener, type Server, createServer, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { App } from "../runtime/app.ts";
import { type Clock, every } from "../base/clock.ts";
import { SkillsError } from "../base/errors.ts";
import { tooMany } from "./admission/limiter.ts";
import type { AdmissionRules } from "./admission/admit.ts";
import type { ServerLimits } from "./config.ts";
import type { HttpLog } from "./telemetry.ts";
import { type PeerOf, createPeerIdentifier, shareConnections } from "./listen/share-connections.ts";
import { toErrorBody, refuseRequest } from "./serve-context.ts";

const loopbackHosts: readonly string[] = ["127.0.0.1", "::1", "localhost"];

/** Whether only this machine can connect to a server that listens on a host. */
export function isLoopbackListenHost(host: string): boolean {
  return loopbackHosts.includes(host);
}

export interface ListenOptions {
  /** The host on which to listen. Default: 127.0.0.1. */
  readonly host: string;
  /** The port on which to listen; 0: any free one. */
  readonly port: number;
  /** Whether remote callers may be added later: without any, only public skills are served. */
  readonly callersFollow?: boolean;
  readonly requestEnded?: HttpLog["requestEnded"] | undefined;
  /** Identifies the peer of a connection. Default: by user or network, from the records of the system. */
  readonly peerOf?: PeerOf;
}

const connectionsCheckMs = 1_000;
const keepAliveMs = 5_000;
/** The time for the answer to a bad client to arrive, and for the client to leave. */
const leaveWithinMs = 1_000;
/** The maximum number of connections that wait to be accepted: clients open one for each of 1,500 artifacts. */
const backlog = 4_096;

/** Opens a server, and returns its URL without a slash at its end. Throws INVALID_OPTIONS if the address cannot be bound. */
export async function listen(
  { host, port, peerOf = createPeerIdentifier() }: ListenOptions,
  limits: ServerLimits,
  app: Pick<App, "clock" | "log">,
  answer: RequestListener,
): Promise<{ readonly server: Server; readonly port: number; readonly url: string }> {
  const server = createServer({
    headersTimeout: limits.headerSeconds * 1_000,
    requestTimeout: limits.requestSeconds * 1_000,
    maxHeaderSize: limits.headerBytes,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: connectionsCheckMs,
  });
  followAnswers(server, answer, limits.requestSeconds * 1_000, app.clock);
  shareConnections(server, limits.connections, peerOf);
  server.on("clientError", (error, socket) => answerClientError(error, socket, app.clock));
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(cannotListen(error, host, port)));
    server.listen({ host, port, backlog }, resolve);
  });
  server.removeAllListeners("error").on("error", (error) => {
    app.log("warning", `The HTTP server could not accept a connection: ${String(error)}`);
  });
  const bound = (server.address() as AddressInfo).port;
  return { server, port: bound, url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}` };
}

function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): SkillsError {
  const reasons: Record<string, string> = {
    EADDRINUSE: `port ${port} is in use; choose another one with --port, or 0 for any free one`,
    EACCES: `port ${port} needs more rights; choose one above 1023 with --port`,
  };
  const why = reasons[error.code ?? ""] ?? `the address cannot be bound (${error.code ?? String(error)})`;
  return new SkillsError("INVALID_OPTIONS", `Cannot listen on ${host}:${port}: ${why}.`, { cause: error });
}

/** Returns the values of Host that mean this server, and the origins of pages that may call. */
export function hostsOf(
  host: string,
  port: number,
  publicUrl: string | undefined,
): Pick<AdmissionRules, "hosts" | "origins"> {
  const names = new Set(
    [...loopbackHosts, host].map((name) => (name.includes(":") ? `[${name}]` : name.toLowerCase())),
  );
  const hosts = [...names].flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]));
  if (publicUrl === undefined) return { hosts, origins: [] };
  const { host: publicHost, origin } = new URL(publicUrl);
  return { hosts: [...hosts, publicHost.toLowerCase()], origins: [origin.toLowerCase()] };
}

/** Answers requests that Node itself refuses: without this, clients would get an empty answer. */
function answerClientError(error: NodeJS.ErrnoException, connection: Duplex, clock: Clock): void {
  // A connection that is only ended would stay until the client leaves.
  if (!connection.writable) {
    connection.destroy();
    return;
  }
  const stopWaiting = clock.after(leaveWithinMs, () => connection.destroy());
  connection.once("close", stopWaiting);
  const statuses: Record<string, string> = {
    HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
    ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
  };
  const status = statuses[error.code ?? ""] ?? "400 Bad Request";
  const body = toErrorBody({ code: "INVALID_REQUEST", message: `${status.slice(4)}.` });
  connection.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  );
}

const closeIdleEveryMs = 100;

/** The time for the answers of cancelled requests. */
const lastAnswersMs = 500;

interface ServerEnd {
  readonly clock: Clock;
  readonly drainMs: number;
  readonly running: { readonly size: number };
  readonly held: ReadonlySet<Promise<void>>;
  readonly cancel: () => void;
}

/**
 * Stops accepting, and waits until all requests and held work have ended or `drainMs` are over. Then calls `cancel` and closes the
 * remaining connections. Resolves with the number of requests and work that were cancelled.
 */
export async function closeServer(server: Server, { clock, drainMs, ...open }: ServerEnd): Promise<number> {
  const { running, held, cancel } = open;
  const ended = new Promise<void>((resolve) => void server.close(() => resolve()));
  // A connection whose request ended after `close` would stay open until its timeout.
  server.closeIdleConnections();
  const stopClosingIdle = every(clock, closeIdleEveryMs, () => server.closeIdleConnections());
  let cancelled = 0;
  const stopWaiting = clock.after(drainMs, () => {
    cancelled = running.size + held.size;
    cancel();
    clock.after(lastAnswersMs, () => server.closeAllConnections());
  });
  await Promise.all([ended, ...held]);
  stopWaiting();
  stopClosingIdle();
  return cancelled;
}

/** The maximum number of requests on a connection with unread answers: a client that never reads occupies no more. */
const maxUnread = 16;

/** The minimum speed at which a client has to read, in bytes per second. */
const minReadBytesPerSecond = 1_024;

/** Returns how many bytes of a connection the system has taken. Node's public count grows only after a write, maybe a whole artifact. */
function takenOf(socket: Socket): number {
  const { _handle: handle } = socket as { _handle?: { bytesWritten?: number; writeQueueSize?: number } | null };
  return (handle?.bytesWritten ?? 0) - (handle?.writeQueueSize ?? 0);
}

/**
 * Answers the requests of a server. Closes idle connections, and those whose client reads less than 1 KiB/s of an answer for `unreadMs`.
 * When a client leaves, Node emits `close` only for the answer that is being sent; this function emits it for those queued behind.
 */
function followAnswers(server: Server, answer: RequestListener, unreadMs: number, clock: Clock): void {
  const open = new Map<Socket, Set<ServerResponse>>();
  /** The bytes that the system had taken at the last check, for each connection with unread bytes. */
  let taken = new Map<Socket, number>();
  let stop: (() => void) | undefined;

  function closeSlow(): void {
    const before = taken;
    taken = new Map();
    for (const socket of open.keys()) {
      if (socket.writableLength === 0) continue;
      const now = takenOf(socket);
      if (now - (before.get(socket) ?? -Infinity) < (minReadBytesPerSecond * unreadMs) / 1_000) socket.destroy();
      else taken.set(socket, now);
    }
    stop = open.size > 0 ? clock.after(unreadMs, closeSlow) : undefined;
  }
  server.once("close", () => stop?.());

  function openOn(socket: Socket): Set<ServerResponse> {
    const known = open.get(socket);
    if (known !== undefined) return known;
    const answers = new Set<ServerResponse>();
    open.set(socket, answers);
    stop ??= clock.after(unreadMs, closeSlow);
    socket.once("close", () => {
      open.delete(socket);
      if (open.size === 0) {
        stop?.();
        stop = undefined;
      }
      for (const response of answers) if (response.socket === null) response.destroy().emit("close");
    });
    return answers;
  }

  server.on("request", (request, response) => {
    const answers = openOn(request.socket);
    if (answers.size >= maxUnread) {
      const message = `Read the answers to earlier requests first: a connection has at most ${maxUnread} at a time.`;
      request.resume();
      refuseRequest(response, request.url ?? "", tooMany(message, 1));
    } else answer(request, response);
    answers.add(response);
    response.once("close", () => answers.delete(response));
  });
  server.timeout = unreadMs;
  server.on("timeout", (socket: Socket) => {
    const isAnswering = (open.get(socket)?.size ?? 0) > 0;
    if (!isAnswering || socket.writableLength > 0) socket.destroy();
  });
}
