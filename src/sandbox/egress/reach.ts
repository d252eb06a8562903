import { lookup } from "node:dns/promises";
import type { Socket } from "node:net";
import type { Clock } from "../../base/clock.ts";
import { isPublicAddress } from "./network-rules.ts";
import { canonicalAddress } from "./target.ts";
import type { Target } from "./target.ts";

/** Resolves a name to all its addresses. `signal` aborts when they are no longer needed. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

/** Starts to connect to an address, without resolving it again. */
export type Connect = (address: string, port: number) => Socket;

export type Reached =
  | { readonly type: "connected"; readonly socket: Socket }
  /** A retry would not help. Neither message contains an address: the program must not learn what names resolve to here. */
  | { readonly type: "refused"; readonly why: string }
  | { readonly type: "failed"; readonly why: string };

export interface ReachOptions {
  readonly resolve: Resolve;
  readonly connect: Connect;
  readonly clock: Clock;
  readonly ownAddresses: () => readonly string[];
}

const lookupPatience = 10_000;
const connectPatience = 4_000;
const addressesTried = 4;

/**
 * Connects to an allowed target. A name is resolved once and refused unless *all* its addresses are public and none is of this
 * machine; then the connection is made to one of these addresses. Does not throw.
 */
export async function reach(target: Target, options: ReachOptions, signal: AbortSignal): Promise<Reached> {
  const { host, port } = target;
  const addresses = host.address === undefined ? await lookUp(host.text, options, signal) : [host.address];
  if (addresses === undefined || addresses.length === 0) {
    return { type: "failed", why: `${host.text} cannot be resolved` };
  }
  if (host.address === undefined && !areForeign(addresses, options.ownAddresses())) {
    const why = `${host.text} resolves to a private address; that needs an entry with the address itself`;
    return { type: "refused", why };
  }
  for (const address of addresses.slice(0, addressesTried)) {
    const socket = signal.aborted ? undefined : await connectTo(address, port, options, signal);
    if (socket !== undefined) return { type: "connected", socket };
  }
  return { type: "failed", why: `${host.text} cannot be reached on port ${port}` };
}

function lookUp(
  name: string,
  { resolve, clock }: ReachOptions,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  return new Promise((answer) => {
    const unwanted = new AbortController();
    const end = (addresses?: readonly string[]): void => {
      cancel();
      signal.removeEventListener("abort", giveUp);
      answer(addresses);
    };
    const giveUp = (): void => {
      unwanted.abort();
      end();
    };
    const cancel = clock.after(lookupPatience, giveUp);
    signal.addEventListener("abort", giveUp);
    // The program only learns that resolving failed.
    resolve(name, unwanted.signal).then(end, () => end());
  });
}

function areForeign(addresses: readonly string[], own: readonly string[]): boolean {
  return addresses.every((address) => {
    const canonical = canonicalAddress(address);
    return canonical !== undefined && isPublicAddress(canonical) && !own.includes(canonical);
  });
}

function connectTo(
  address: string,
  port: number,
  { connect, clock }: ReachOptions,
  signal: AbortSignal,
): Promise<Socket | undefined> {
  return new Promise((answer) => {
    const socket = connect(address, port);
    const giveUp = (): void => {
      end();
      socket.on("error", () => undefined);
      socket.destroy();
      answer(undefined);
    };
    const succeed = (): void => {
      end();
      answer(socket);
    };
    const cancel = clock.after(connectPatience, giveUp);
    const end = (): void => {
      cancel();
      signal.removeEventListener("abort", giveUp);
      socket.off("error", giveUp).off("connect", succeed);
    };
    signal.addEventListener("abort", giveUp);
    socket.once("error", giveUp).once("connect", succeed);
  });
}

const lookupsAtOnce = 2;

/**
 * The system's resolver, with few concurrent lookups: each blocks a thread of the pool that also reads files, for as long as a
 * possibly hostile name server takes.
 */
export function systemResolver(
  resolve: (name: string) => Promise<readonly string[]> = async (name) =>
    (await lookup(name, { all: true })).map(({ address }) => address),
): Resolve {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (name, signal) => {
    if (running >= lookupsAtOnce) await new Promise<void>((go) => waiting.push(go));
    else running += 1;
    try {
      signal.throwIfAborted();
      return await resolve(name);
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
