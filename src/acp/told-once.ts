import type { Log } from "../log.ts";

/** What was told already on one connection. */
export interface ToldOnce {
  /** Whether a message was never asked about before; remembers it. */
  readonly isNew: (message: string) => boolean;
  /** Logs a warning unless it was logged before. */
  readonly tellOnce: (message: string) => void;
}

const defaultLimit = 1_000;

/** Remembers at most `limit` messages; beyond them nothing is new. */
export function openToldOnce(log: Log, { limit = defaultLimit }: { readonly limit?: number } = {}): ToldOnce {
  const told = new Set<string>();
  const isNew = (message: string): boolean => {
    if (told.has(message) || told.size >= limit) return false;
    told.add(message);
    return true;
  };
  return {
    isNew,
    tellOnce(message) {
      if (isNew(message)) log("warning", message);
    },
  };
}
