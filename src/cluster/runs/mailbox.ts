import type { Database } from "../database.ts";

/** What members say to one another about a run. The message only names it: what is so is in its row. */
type RunMessage = "changed" | "cancelled";

/** The channel of a member. */
export function mailboxChannel(member: string): `acp_skills_to_${string}` {
  return `acp_skills_to_${member.replaceAll("-", "")}`;
}

/** Sends a message about what is committed. */
export function post(database: Database, member: string, message: RunMessage, runId: string): void {
  database.notify(mailboxChannel(member), `${message} ${runId}`);
}

/** Calls `onMessage` for each such message to this member, and `onConnected` whenever some may have been lost. Returns a function that ends this. */
export function openMailbox(
  database: Database,
  member: string,
  message: RunMessage,
  onMessage: (runId: string) => void,
  onConnected: () => void,
): () => void {
  return database.listen(
    mailboxChannel(member),
    (payload) => {
      const [said, runId = ""] = payload.split(" ");
      if (said === message) onMessage(runId);
    },
    onConnected,
  );
}
