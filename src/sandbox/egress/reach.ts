import type { Socket } from "node:net";
import type { Clock } from "../../base/clock.ts";
import { canonicalAddress } from "./canonical-host.ts";
import { isPublicAddress } from "./public-address.ts";
import type { Target } from "./target.ts";

/** Every address of a name; `signal`: nobody waits for them any more. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

/** Begins to connect to an address, which must not be resolved again. */
export type Connect = (address: string, port: number) => Socket;

export type Reached =
  | { readonly type: "connected"; readonly socket: Socket }
  /** For a reason that no retry mends. Neither sentence tells an address: what names resolve to here is not the program's to know. */
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
 * Connects to a target that an entry allows. A name is resolved once; unless *every* address of it is public and not one of
 * this machine, it is refused, and the connection is made to a checked address. Never throws.
 */
export async function reach(target: Target, options: ReachOptions, signal: AbortSignal): Promise<Reached> {
  const { host, port } = target;
  const addresses = host.address === undefined ? await lookUp(host.text, options, signal) : [host.address];
  if (addresses === undefined || addresses.length === 0) {
    return { type: "failed", why: `${host.text} cannot be resolved` };
  }
  if (host.address === undefined && !areForeign(addresses, options.ownAddresses())) {
    const why = `${host.text} leads to a private address, which only an entry that names the address itself allows`;
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
    // Why a name has no address is of no use inside; it is told as a failure.
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
