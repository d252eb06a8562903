import { lookup } from "node:dns/promises";
import type { Resolve } from "./reach.ts";

const lookupsAtOnce = 2;

/**
 * The system's own resolution, a few names at a time: each lookup holds one of the few threads on which this process also reads
 * its files, for as long as a name server likes, and that server may be the program's author's.
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
