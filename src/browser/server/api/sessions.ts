import path from "node:path";
import { homePath } from "../../../base/paths/location.ts";
import type { LedgerEntry } from "../../../runtime/ledger.ts";
import { nativeWatchers } from "../../../skills/skillset.ts";
import type { SessionList } from "../../wire/sessions.ts";
import type { BrowseContext, MountBrowse } from "../browse-context.ts";

const maxSessions = 100;
/** The maximum number of uses shown for one session. */
const maxUses = 100;
/** Changes within this time are reported once. */
const debounceMs = 150;

/** `GET /api/sessions`. A `sessions` event says that the list has changed. */
export const mountSessions: MountBrowse = ({ app, events, home, dataDirectory, stopped }) => {
  let cancel: (() => void) | undefined;
  const notice = (): void => {
    cancel ??= app.clock.after(debounceMs, () => {
      cancel = undefined;
      events.push("sessions", {});
    });
  };
  let isWatching = false;
  // Begins when a page first shows sessions: until then nobody has to be notified.
  const watch = (): void => {
    if (isWatching || stopped.aborted) return;
    isWatching = true;
    const watcher = nativeWatchers()(notice, (message) => app.log("warning", message));
    for (const name of ["sessions", "ledger"]) watcher.add(path.join(dataDirectory, name));
    stopped.addEventListener("abort", () => {
      cancel?.();
      void watcher.close();
    });
  };
  return {
    async "GET /api/sessions"() {
      watch();
      const sessions = (await app.sessionRecords.read()).slice(0, maxSessions);
      const uses = await usesOf(new Set(sessions.map(({ sessionId }) => sessionId)), app.ledger);
      const list: SessionList = {
        sessions: sessions.map(({ sessionId: id, directory, openedAt, closedAt, ...session }) => {
          const { agent, editor, forms, tools, announced } = session;
          // An older session of another agent may have the same id.
          const own = uses.get(id)?.filter(({ at }) => at >= openedAt && at <= (closedAt ?? Infinity)) ?? [];
          return {
            ...{ id, agent, editor, openedAt, closedAt, forms, tools, announced },
            directory: directory && homePath(directory, home),
            used: own.map(({ at, tool, skill, outcome }) => ({ at, tool, skill, outcome })),
          };
        }),
      };
      return { json: list };
    },
  };
};

/** The latest uses of each session by its id, newest first. */
async function usesOf(
  sessions: ReadonlySet<string>,
  ledger: Pick<BrowseContext["app"]["ledger"], "read">,
): Promise<ReadonlyMap<string, readonly LedgerEntry[]>> {
  const uses = new Map<string, LedgerEntry[]>();
  for await (const entry of ledger.read()) {
    const { sessionId, event } = entry;
    if (sessionId === undefined || event !== undefined || !sessions.has(sessionId)) continue;
    const known = uses.get(sessionId) ?? [];
    uses.set(sessionId, known);
    known.unshift(entry);
    if (known.length > maxUses) known.pop();
  }
  return uses;
}
