import type { Log } from "../log.ts";

const limit = 1_000;

/** A log that says each sentence once. What is told under a key is told once for that key. After a thousand it is silent. */
export function toldOnce(log: Log): (level: Parameters<Log>[0], message: string, key?: string) => void {
  const told = new Set<string>();
  return (level, message, key = message) => {
    if (told.has(key) || told.size >= limit) return;
    told.add(key);
    log(level, message);
  };
}
