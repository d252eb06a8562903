/** Lists of commands that an agent sent before the response that makes their session known. */
export interface EarlyCommands {
  add(sessionId: string, commands: readonly unknown[]): void;
  /** The last list of a session; it is forgotten. */
  take(sessionId: string): readonly unknown[] | undefined;
  clear(): void;
}

/** So many sessions that we do not know are remembered. */
const unknownLimit = 64;

export function openEarlyCommands(): EarlyCommands {
  const lists = new Map<string, readonly unknown[]>();
  return {
    add(sessionId, commands) {
      lists.delete(sessionId);
      lists.set(sessionId, commands);
      const [oldest] = lists.keys();
      if (lists.size > unknownLimit && oldest !== undefined) lists.delete(oldest);
    },
    take(sessionId) {
      const commands = lists.get(sessionId);
      lists.delete(sessionId);
      return commands;
    },
    clear() {
      lists.clear();
    },
  };
}
