import type { Database } from "../database.ts";

/** What members say to one another about a run. The message only names it: what is so is in its row. */
export type RunMessage = "changed" | "cancelled";

/** Messages to this member alone. */
export interface Mailbox {
  /** Calls back for each message; the returned function ends that. */
  on(message: RunMessage, listener: (runId: string) => void): () => void;
  /** Calls back whenever messages may have been lost. */
  onConnected(listener: () => void): () => void;
  close(): void;
}

/** The channel of a member. */
export function mailboxChannel(member: string): `acp_skills_to_${string}` {
  return `acp_skills_to_${member.replaceAll("-", "")}`;
}

/** Sends a message about what is committed. */
export function post(database: Database, member: string, message: RunMessage, runId: string): void {
  database.notify(mailboxChannel(member), `${message} ${runId}`);
}

export function openMailbox(database: Database, member: string): Mailbox {
  const listeners = new Set<readonly [RunMessage, (runId: string) => void]>();
  const connected = new Set<() => void>();
  const stop = database.listen(
    mailboxChannel(member),
    (payload) => {
      const [message, runId = ""] = payload.split(" ");
      for (const [wanted, listener] of [...listeners]) if (wanted === message) listener(runId);
    },
    () => {
      for (const listener of [...connected]) listener();
    },
  );
  return {
    on(message, listener) {
      const entry = [message, listener] as const;
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
    onConnected(listener) {
      connected.add(listener);
      return () => void connected.delete(listener);
    },
    close: stop,
  };
}
