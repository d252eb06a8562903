import { lookup } from "node:dns/promises";
import type { Resolve } from "./reach.ts";

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
