import { once } from "node:events";
import { type IncomingMessage, type RequestListener, createServer as createHttpServer } from "node:http";
import { type AddressInfo, type Server, type Socket, connect, createServer } from "node:net";
import { onTestFinished } from "vitest";
import { type EgressOptions, type EgressProxy, openEgressProxy } from "../../../../src/runtime/sandbox/egress-proxy.ts";
import { type ManualClock, manualClock } from "../../../manual-clock.ts";

/** A public address, as DNS would return it. */
export const publicAddress = "93.184.215.14";

export interface Proxied {
  readonly proxy: EgressProxy;
  readonly server: Server;
  readonly port: number;
  readonly clock: ManualClock;
  readonly logged: string[];
  /** The connections made, as `address:port`. */
  readonly connections: string[];
  readonly lookups: string[];
}

/** Lets a server listen on loopback until the test ends; returns its port. */
export async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket.on("error", () => undefined));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  });
  return (server.address() as AddressInfo).port;
}

/** Starts an HTTP server on loopback; returns its port and the requests it received. */
export async function listenHttp(
  answer: RequestListener = (_request, response) => response.end("hello"),
): Promise<{ port: number; asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const port = await listen(
    createHttpServer((request, response) => {
      asked.push(request);
      answer(request, response);
    }),
  );
  return { port, asked };
}

/** Opens a proxy on loopback. `names` resolves hosts; connections to public addresses go to port `upstream` on loopback. */
export async function openProxied(
  network: readonly string[],
  {
    names = {},
    upstream,
    ...rest
  }: Partial<EgressOptions> & {
    names?: Readonly<Record<string, readonly string[]>>;
    upstream?: number;
  } = {},
): Promise<Proxied> {
  const clock = manualClock();
  const logged: string[] = [];
  const connections: string[] = [];
  const lookups: string[] = [];
  const server = createServer();
  const port = await listen(server);
  const proxy = openEgressProxy(server, {
    network,
    clock,
    log: (_level, message) => void logged.push(message),
    resolve: (name) => {
      lookups.push(name);
      const addresses = names[name];
      return addresses === undefined ? Promise.reject(new Error("ENOTFOUND")) : Promise.resolve(addresses);
    },
    connect: (address, to) => {
      connections.push(`${address}:${to}`);
      return connect({ host: "127.0.0.1", port: upstream ?? to, allowHalfOpen: true });
    },
    ...rest,
  });
  onTestFinished(() => proxy.close());
  return { proxy, server, port, clock, logged, connections, lookups };
}

/** Sends raw bytes; returns everything received until the connection closes. */
export async function exchange(port: number, ...pieces: readonly (string | Buffer)[]): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port });
  socket.on("error", () => undefined);
  const received: Buffer[] = [];
  socket.on("data", (bytes) => received.push(bytes));
  for (const piece of pieces) socket.write(piece);
  await once(socket, "close");
  return Buffer.concat(received).toString("latin1");
}

/** A plain request in absolute form with `Connection: close`. */
export function get(url: string, headers: readonly string[] = []): string {
  return [`GET ${url} HTTP/1.1`, "Host: ignored.example", "Connection: close", ...headers, "", ""].join("\r\n");
}

/** Sends a CONNECT request; returns the head of the response and the socket. */
export async function openTunnel(port: number, authority: string): Promise<{ head: string; socket: Socket }> {
  const socket = connect({ host: "127.0.0.1", port });
  socket.on("error", () => undefined);
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  const [bytes] = (await once(socket, "data")) as [Buffer];
  onTestFinished(() => {
    socket.destroy();
    return Promise.resolve();
  });
  return { head: bytes.toString("latin1"), socket };
}
