import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";

/** Resolves a name to all its addresses. `signal` aborts when they are no longer needed. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

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

/** One for all sources: each of many fetchers with a resolver of its own could block every thread together. */
export const sharedResolver: Resolve = systemResolver();

/** Addresses of this machine: local services often trust local clients. */
export function systemAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((interfaces) => interfaces?.map(({ address }) => address) ?? []);
}
