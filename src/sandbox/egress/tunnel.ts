import type { Duplex } from "node:stream";
import { readClientHello } from "./client-hello.ts";
import { canonicalHost } from "./canonical-host.ts";
import type { Reached } from "./reach.ts";
import { answerConnect, refusal } from "./replies.ts";
import type { Target } from "./target.ts";

export interface TunnelOptions {
  readonly reachTarget: (target: Target, signal: AbortSignal) => Promise<Reached>;
  /** Called when the client asked TLS for another server than the one it connected to. Must not throw. */
  readonly onFronting: (target: Target) => void;
}

/** A fatal TLS alert, `unrecognized_name`, which clients show by name. */
const alert = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

/**
 * Answers a CONNECT: connects the client with the checked address. The connection must begin with TLS for exactly the name that was
 * allowed: behind the addresses of a CDN are thousands of hosts, and one allowed host would open all of them. For a literal address
 * there is no name to compare. Nothing inside TLS is read.
 */
export async function openTunnel(
  client: Duplex,
  head: Buffer,
  target: Target,
  { reachTarget, onFronting }: TunnelOptions,
): Promise<void> {
  const left = new AbortController();
  client.once("close", () => left.abort());
  const reached = await reachTarget(target, left.signal);
  if (reached.type === "refused") {
    answerConnect(client, 403, refusal(reached.why));
    return;
  }
  if (reached.type === "failed") {
    answerConnect(client, 502, reached.why);
    return;
  }
  const { socket } = reached;
  socket.on("error", () => socket.destroy());
  if (left.signal.aborted) return void socket.destroy();
  client.once("close", () => socket.destroy());
  // Not destroyed: the last bytes may not be written yet. Still read, so that its end is noticed.
  socket.once("close", () => client.end().resume());
  client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
  const first = target.host.address === undefined ? await readHello(client, head, target) : head;
  if (first === undefined) {
    socket.destroy();
    if (client.destroyed || client.readableEnded) return;
    onFronting(target);
    client.end(alert).resume();
    return;
  }
  socket.write(first);
  client.pipe(socket);
  socket.pipe(client);
}

/** All bytes up to the end of a ClientHello for exactly this host; undefined for anything else. Waits as long as the client is connected. */
async function readHello(client: Duplex, head: Buffer, { host }: Target): Promise<Buffer | undefined> {
  for (let bytes = head; ;) {
    const hello = readClientHello(bytes);
    if (hello.type === "invalid") return undefined;
    if (hello.type === "read") {
      const { serverName, encrypted } = hello;
      const isAllowed = !encrypted && serverName !== undefined && canonicalHost(serverName)?.text === host.text;
      return isAllowed ? bytes : undefined;
    }
    const more = client.destroyed ? undefined : await nextBytes(client);
    if (more === undefined) return undefined;
    bytes = Buffer.concat([bytes, more]);
  }
}

function nextBytes(client: Duplex): Promise<Buffer | undefined> {
  return new Promise((answerWith) => {
    const stop = (): void => {
      client.pause();
      client.off("data", take).off("end", end).off("close", end);
    };
    const take = (bytes: Buffer): void => {
      stop();
      answerWith(bytes);
    };
    const end = (): void => {
      stop();
      answerWith(undefined);
    };
    client.on("data", take).on("end", end).on("close", end);
    client.resume();
  });
}
