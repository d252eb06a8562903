import type { Duplex } from "node:stream";
import { readClientHello } from "./client-hello.ts";
import { canonicalHost } from "./canonical-host.ts";
import type { Reached } from "./reach.ts";
import { answerConnect, refusal } from "./replies.ts";
import type { Target } from "./target.ts";

export interface TunnelOptions {
  readonly reachTarget: (target: Target, signal: AbortSignal) => Promise<Reached>;
  /** Told when the client asked for another server than the one it was let through to. Must not throw. */
  readonly onFronting: (target: Target) => void;
}

/** A fatal TLS alert, `unrecognized_name`: clients show it by name. */
const alert = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

/**
 * Answers a CONNECT: joins the client with the checked address. What begins must be TLS with the very name that was allowed;
 * so one allowed host of a shared front does not open the others. For a literal address there is no name to compare. What is
 * said inside TLS is not seen.
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
  // Not destroyed: what came last may not be written yet. It is read on, so that its end is seen.
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

/** All that came up to the end of an acceptable ClientHello; undefined where another comes. Waits as long as the client is there. */
async function readHello(client: Duplex, head: Buffer, { host }: Target): Promise<Buffer | undefined> {
  let bytes = head;
  const hello = (): ReturnType<typeof readClientHello> => readClientHello(bytes);
  while (hello().type === "incomplete") {
    if (client.destroyed) return undefined;
    const more = await nextBytes(client);
    if (more === undefined) return undefined;
    bytes = Buffer.concat([bytes, more]);
  }
  const read = hello();
  if (read.type !== "read" || read.hidden || read.serverName === undefined) return undefined;
  return canonicalHost(read.serverName)?.text === host.text ? bytes : undefined;
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
