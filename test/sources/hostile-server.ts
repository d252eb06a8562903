import { once } from "node:events";
import { type IncomingMessage, type RequestListener, type ServerResponse, createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { gzipSync } from "node:zlib";
import { onTestFinished } from "vitest";
import type { Clock } from "../../src/base/clock.ts";
import { type Fetcher, type FetcherOptions, openFetcher } from "../../src/sources/fetch.ts";
import { testCertificate } from "./test-certificate.ts";

/** Answers one request, well or badly. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface HostileServer {
  /** `http://127.0.0.1:<port>` or `https://…`. */
  readonly origin: string;
  readonly port: number;
  /** Sets what a path answers; returns its URL. Other paths answer 404. */
  on(path: string, answer: Answer): string;
  readonly asked: { readonly method: string; readonly url: string; readonly headers: IncomingMessage["headers"] }[];
  /** Resolves when a request for this path arrives, also if it did already. */
  arrived(path: string): Promise<void>;
}

/** A server on loopback that misbehaves as its paths say; closed at the end of the test. */
export async function openHostileServer({ secure = false } = {}): Promise<HostileServer> {
  const paths = new Map<string, Answer>();
  const asked: HostileServer["asked"] = [];
  const waiting = new Set<() => void>();
  const listener: RequestListener = (request, response) => {
    const { method = "", url = "", headers } = request;
    asked.push({ method, url, headers });
    // Clients leave in the middle of an answer: that is the point.
    response.on("error", () => undefined);
    const path = url.replace(/\?.*/, "");
    (paths.get(path) ?? answers.status(404))(request, response);
    for (const look of waiting) look();
  };
  const server = secure ? createSecureServer(testCertificate, listener) : createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const origin = `${secure ? "https" : "http"}://127.0.0.1:${port}`;
  return {
    origin,
    port,
    asked,
    on(path, answer) {
      paths.set(path, answer);
      return origin + path;
    },
    arrived: (path) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!asked.some(({ url }) => url.replace(/\?.*/, "") === path)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}

/** Ways to answer. */
export const answers = {
  bytes:
    (body: Uint8Array | string, headers: Readonly<Record<string, string>> = {}): Answer =>
    (_request, response) => {
      response.writeHead(200, headers).end(body);
    },
  json:
    (value: unknown): Answer =>
    (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
    },
  status:
    (status: number, headers: Readonly<Record<string, string>> = {}, body = ""): Answer =>
    (_request, response) => {
      response.writeHead(status, headers).end(body);
    },
  redirect:
    (location: string, status = 302): Answer =>
    (_request, response) => {
      response.writeHead(status, { location }).end();
    },
  /** Headers and the first byte, then nothing. */
  stalled: ((_request, response) => {
    response.writeHead(200).write("x");
  }) satisfies Answer,
  /** Accepts the request and says nothing. */
  silent: (() => undefined) satisfies Answer,
  /** A byte now and then, forever. */
  dripping: ((_request, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write("x"), 2);
    response.on("close", () => clearInterval(drip));
  }) satisfies Answer,
  endlessly:
    (status: number): Answer =>
    (_request, response) => {
      response.writeHead(status);
      const piece = Buffer.alloc(64 * 1024, "x");
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    },
  /** These bytes instead of a response of HTTP; then the connection ends. */
  raw:
    (bytes: string | Uint8Array): Answer =>
    (request) => {
      request.socket.end(bytes);
    },
  /** Half of what Content-Length announces. */
  truncated:
    (body: Uint8Array): Answer =>
    ({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`);
      socket.end(body.subarray(0, body.length / 2));
    },
};

/** A gzip of so many zeros. */
export function gzipOfZeros(length: number): Buffer {
  return gzipSync(Buffer.alloc(length));
}

/** An address that is public by our rules and reached by nobody: connections to it go to loopback. */
export const publicAddress = "93.184.215.14";

export interface OpenWorld {
  readonly fetcher: Fetcher;
  /** For what opens fetchers itself. */
  readonly options: FetcherOptions;
  /** Addresses that were connected to, as `address:port`. */
  readonly connections: readonly string[];
  /** Names that were looked up, in order. */
  readonly lookups: readonly string[];
}

/**
 * A fetcher for which names have these addresses (one list per look-up, the last for all later ones), and every address outside loopback
 * leads to `server`.
 */
export function openWorld({
  names = {},
  server,
  clock,
  ...options
}: {
  readonly names?: Readonly<Record<string, readonly (readonly string[])[]>>;
  readonly server?: HostileServer;
  readonly allowPrivate?: readonly string[];
  readonly typed?: readonly string[];
  readonly clock?: Clock;
  readonly ownAddresses?: () => readonly string[];
}): OpenWorld {
  const connections: string[] = [];
  const lookups: string[] = [];
  const opened: FetcherOptions = {
    allowPrivate: [],
    ownAddresses: () => [],
    ...options,
    ...(clock === undefined ? {} : { clock }),
    certificateAuthority: testCertificate.cert,
    resolve(name) {
      const lists = names[name] ?? [];
      const count = lookups.filter((earlier) => earlier === name).length;
      lookups.push(name);
      const addresses = lists[Math.min(count, lists.length - 1)];
      return addresses === undefined ? Promise.reject(new Error("ENOTFOUND")) : Promise.resolve(addresses);
    },
    connect(address, port) {
      connections.push(`${address}:${port}`);
      const isHere = /^127\.|^::1$/.test(address);
      return connect({ host: "127.0.0.1", port: isHere ? port : (server?.port ?? 1) });
    },
  };
  const fetcher = openFetcher(opened);
  onTestFinished(() => fetcher.close());
  return { fetcher, options: opened, connections, lookups };
}
