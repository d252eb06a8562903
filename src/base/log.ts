/** Receives diagnostics: stderr or a file, never stdout, which belongs to the protocol. Must not throw. */
export type Log = (level: "info" | "warning" | "error", message: string) => void;

export const silentLog: Log = () => undefined;

/** Writes errors to stderr, so that nothing stops working in silence. */
export const errorLog: Log = (level, message) => {
  if (level === "error") process.stderr.write(`acp-skills: ${message}\n`);
};

/** Deduplicates messages. */
export interface OnceLog {
  /** Whether a key is new. Remembers the key. */
  readonly isNew: (key: string) => boolean;
  /** Logs a message unless one was logged under its key before. */
  readonly logOnce: (level: Parameters<Log>[0], message: string, key?: string) => void;
}

const defaultLimit = 1_000;

/** Remembers at most `limit` keys; beyond that, nothing is new. */
export function createOnceLog(log: Log, { limit = defaultLimit }: { readonly limit?: number } = {}): OnceLog {
  const seen = new Set<string>();
  const isNew = (key: string): boolean => {
    if (seen.has(key) || seen.size >= limit) return false;
    seen.add(key);
    return true;
  };
  return {
    isNew,
    logOnce(level, message, key = message) {
      if (isNew(key)) log(level, message);
    },
  };
}
