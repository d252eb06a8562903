/** Agents list their commands also before the session's response: what was listed for sessions that we do not know yet. */
export interface EarlyLists {
  remember(sessionId: string, commands: readonly unknown[]): void;
  take(sessionId: string): readonly unknown[] | undefined;
  clear(): void;
}

/** Remembers the lists of the last `limit` such sessions. */
export function openEarlyLists(limit: number): EarlyLists {
  const lists = new Map<string, readonly unknown[]>();
  return {
    remember(sessionId, commands) {
      lists.delete(sessionId);
      lists.set(sessionId, commands);
      const [oldest] = lists.keys();
      if (lists.size > limit && oldest !== undefined) lists.delete(oldest);
    },
    take(sessionId) {
      const commands = lists.get(sessionId);
      lists.delete(sessionId);
      return commands;
    },
    clear: () => {
      lists.clear();
    },
  };
}
