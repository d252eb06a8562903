import type { Socket } from "node:net";
import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";
import type { Clock } from "../clock.ts";
import { createSemaphore, unlessAborted } from "../promises.ts";
import { isPublicAddress, type Target, canonicalAddress } from "./address.ts";

/** Starts to connect to an address, without resolving it again. */
export type Connect = (address: string, port: number) => Socket;

export type Reached =
  | { readonly type: "connected"; readonly socket: Socket }
  /** A retry would not help. No message contains an address: a program in a sandbox must not learn which addresses a name has here. */
  | { readonly type: "refused"; readonly why: string }
  | { readonly type: "failed"; readonly why: string };

export interface ReachOptions {
  readonly resolve: Resolve;
  readonly connect: Connect;
  readonly clock: Clock;
  /** Why no connection may be made to a target with these addresses; undefined if it may. Called once, before connecting. */
  readonly judge: (target: Target, addresses: readonly string[]) => string | undefined;
}

const lookupMs = 10_000;
const connectMs = 4_000;
const addressesTried = 4;

/**
 * Connects to a target. A name is resolved once and `judge` checks *all* its addresses. The connection is made to one of exactly these, so
 * a name server cannot change its answer in between. Does not throw.
 */
export async function reach(target: Target, options: ReachOptions, signal: AbortSignal): Promise<Reached> {
  const { host, port } = target;
  const addresses = host.address === undefined ? await lookUp(host.text, options, signal) : [host.address];
  if (addresses === undefined || addresses.length === 0) {
    return { type: "failed", why: `${host.text} cannot be resolved` };
  }
  const why = options.judge(target, addresses);
  if (why !== undefined) return { type: "refused", why };
  let failure = `${host.text} cannot be reached on port ${port}`;
  for (const address of addresses.slice(0, addressesTried)) {
    const socket = signal.aborted ? undefined : await connectTo(address, port, options, signal);
    if (socket === "refused") failure = `connection refused by ${host.text}:${port}`;
    else if (socket !== undefined) return { type: "connected", socket };
  }
  return { type: "failed", why: failure };
}

async function lookUp(
  name: string,
  { resolve, clock }: ReachOptions,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const late = new AbortController();
  const cancel = clock.after(lookupMs, () => late.abort());
  const unwanted = AbortSignal.any([signal, late.signal]);
  const found = unlessAborted(resolve(name, unwanted), unwanted);
  // The program only learns that resolving failed.
  return await found.catch(() => undefined).finally(cancel);
}

/** Whether all addresses are public and none is of this machine. */
export function areForeign(addresses: readonly string[], own: readonly string[]): boolean {
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
): Promise<Socket | "refused" | undefined> {
  return new Promise((answer) => {
    const socket = connect(address, port);
    const giveUp = (why?: unknown): void => {
      end();
      socket.on("error", () => undefined);
      socket.destroy();
      answer(why instanceof Error && "code" in why && why.code === "ECONNREFUSED" ? "refused" : undefined);
    };
    const succeed = (): void => {
      end();
      answer(socket);
    };
    const cancel = clock.after(connectMs, giveUp);
    const end = (): void => {
      cancel();
      signal.removeEventListener("abort", giveUp);
      socket.off("error", giveUp).off("connect", succeed);
    };
    signal.addEventListener("abort", giveUp);
    socket.once("error", giveUp).once("connect", succeed);
  });
}

/** Resolves a name to all its addresses. `signal` aborts when they are no longer needed. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

const lookupsAtOnce = 2;

/**
 * The system's resolver, with at most two concurrent lookups. Each lookup blocks a thread of the pool that also reads files, for as long
 * as a possibly hostile name server takes.
 */
export function systemResolver(
  resolve: (name: string) => Promise<readonly string[]> = async (name) =>
    (await lookup(name, { all: true })).map(({ address }) => address),
): Resolve {
  const enter = createSemaphore(lookupsAtOnce);
  return async (name, signal) => {
    const leave = await enter();
    try {
      signal.throwIfAborted();
      return await resolve(name);
    } finally {
      leave();
    }
  };
}

/** The resolver that all sources share. If each had its own resolver, their lookups together could block every thread. */
export const sharedResolver: Resolve = systemResolver();

/** The addresses of this machine. They count as private, because local services often trust local clients. */
export function systemAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((interfaces) => interfaces?.map(({ address }) => address) ?? []);
}
