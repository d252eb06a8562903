import type { Database } from "../database.ts";

/** A message between members about a run. It only names the run, whose row has the state. */
type RunMessage = "changed" | "cancelled";

/** Returns the channel of a member. */
export function mailboxChannel(member: string): `acp_skills_to_${string}` {
  return `acp_skills_to_${member.replaceAll("-", "")}`;
}

/** Sends a message about a committed change. */
export function post(database: Database, member: string, message: RunMessage, runId: string): void {
  database.notify(mailboxChannel(member), `${message} ${runId}`);
}

/** Calls `onMessage` for each such message to this member, and `onConnected` when some may be lost. Returns a function that ends this. */
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
