import path from "node:path";
import { homePath } from "../../../base/paths/location.ts";
import type { KnownSession, LedgerEntry } from "../../../runtime/ledger.ts";
import type { SessionList, ShownSession } from "../../wire/sessions.ts";
import type { BrowseDoor, MountBrowse } from "../browse-door.ts";
import { type FSWatcher, watch } from "node:fs";
import type { Clock } from "../../../base/clock.ts";

const mostSessions = 100;
/** The uses shown of one session. */
const mostUses = 100;

/** `GET /api/sessions`. A `sessions` event says that it has changed. */
export const mountSessions: MountBrowse = (door) => {
  const { app, events, home, dataDirectory, stopped } = door;
  const places = ["sessions", "ledger"].map((name) => path.join(dataDirectory, name));
  let stop: (() => void) | undefined;
  // Only once a page shows sessions: until then nobody is notified, and the directories may not exist.
  const watch = (): void => {
    stop?.();
    stop = watchDirectories(places, app.clock, () => {
      events.push("sessions", {});
    });
  };
  stopped.addEventListener("abort", () => stop?.());
  return [
    {
      method: "GET",
      path: "/api/sessions",
      async answer() {
        watch();
        const sessions = (await app.sessionRecords.read()).slice(0, mostSessions);
        const uses = await usesOf(new Set(sessions.map(({ sessionId }) => sessionId)), app.ledger);
        const list: SessionList = {
          sessions: sessions.map((session) => toShown(session, uses.get(session.sessionId) ?? [], home)),
        };
        return { json: list };
      },
    },
  ];
};

/** The latest uses by sessions, newest first. */
async function usesOf(
  sessions: ReadonlySet<string>,
  ledger: Pick<BrowseDoor["app"]["ledger"], "read">,
): Promise<ReadonlyMap<string, readonly LedgerEntry[]>> {
  const uses = new Map<string, LedgerEntry[]>();
  for await (const entry of ledger.read()) {
    const { sessionId, event } = entry;
    if (sessionId === undefined || event !== undefined || !sessions.has(sessionId)) continue;
    const known = uses.get(sessionId) ?? [];
    uses.set(sessionId, known);
    known.push(entry);
    if (known.length > mostUses) known.shift();
  }
  for (const known of uses.values()) known.reverse();
  return uses;
}

function toShown(session: KnownSession, uses: readonly LedgerEntry[], home: string): ShownSession {
  const { sessionId, agent, editor, directory, openedAt, closedAt, forms, tools, announced } = session;
  return {
    id: sessionId,
    agent,
    editor,
    ...(directory !== undefined && { directory: homePath(directory, home) }),
    openedAt,
    ...(closedAt !== undefined && { closedAt }),
    forms,
    tools,
    ...(announced !== undefined && { announced }),
    used: uses
      // An older session of another agent may have the same id.
      .filter(({ at }) => at >= openedAt && at <= (closedAt ?? Infinity))
      .map(({ at, tool, skill, outcome }) => ({
        at,
        tool,
        ...(skill !== undefined && { skill }),
        ...(outcome !== undefined && { outcome }),
      })),
  };
}

/** Changes within this time are reported once. */
const debounceMs = 150;

/**
 * Calls back after something changed in directories, which need not exist. Directories that cannot be watched are skipped, because pages can also
 * be reloaded. The returned function stops watching.
 */
function watchDirectories(directories: readonly string[], clock: Clock, changed: () => void): () => void {
  let stopTimer: (() => void) | undefined;
  const noticed = (): void => {
    stopTimer ??= clock.after(debounceMs, () => {
      stopTimer = undefined;
      changed();
    });
  };
  const watchers = directories.flatMap((directory) => watchOne(directory, noticed) ?? []);
  return () => {
    stopTimer?.();
    for (const watcher of watchers) watcher.close();
  };
}

function watchOne(directory: string, noticed: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(directory, { persistent: false }, noticed);
    watcher.on("error", () => {
      watcher.close();
    });
    return watcher;
  } catch {
    return undefined; // It does not exist yet, or the system has no watches left.
  }
}
