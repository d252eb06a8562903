import { randomBytes } from "node:crypto";
import { LimitedMap } from "../../base/limited-map.ts";
import type { RunEvent } from "../../wire/run-event.ts";
import type { Change, OfferedSkill } from "../../skills/skill.ts";
import type { HttpCaller, HttpDoor } from "../http-door.ts";
import type { Publication, PublishedSkill } from "../publish/publication.ts";
import { type CallerEvents, createCallerEvents } from "../events.ts";

/** Changes of the skills that a caller discovers, and of its runs. */
export interface EventFeed {
  /** The events of a caller, from its first stream on. */
  readonly of: (caller: HttpCaller) => CallerEvents;
  /** Where a client reads what there is now, when it has missed events. */
  readonly snapshot: () => { readonly snapshot: string };
}

/** Names in one event; of more changes at once, clients read the snapshot. */
const mostNames = 100;
const remembered = 256;
/** Far more than run at a time. */
const mostRuns = 10_000;

/**
 * One feed for all streams. An event is made only for those who may know of what it tells: a skill, for callers that discover it; a run,
 * for the named caller that started it. Anonymous callers are not told of runs, because they share a name.
 */
export function createEventFeed(
  { session, publication, baseUrl, onRun }: Pick<HttpDoor, "session" | "publication" | "baseUrl" | "onRun">,
  epoch: string = randomBytes(6).toString("hex"),
): EventFeed {
  const callers = new Map<string, { readonly caller: HttpCaller; readonly events: CallerEvents }>();
  const skillsOfRuns = new LimitedMap<string, string>(mostRuns);
  const snapshot: EventFeed["snapshot"] = () => ({ snapshot: `${baseUrl()}/.well-known/skill-sharing` });
  let before: Publication | undefined;

  session.catalog.onChange((_snapshot, change) => {
    const after = publication();
    const published = { before: before ?? after, after };
    before = after;
    /** Callers with one view get the same event. */
    const seen = new Map<string, CatalogChange>();
    for (const { caller, events } of callers.values()) {
      const seenChange = seen.get(caller.view) ?? discoveredChange(change, published, caller);
      seen.set(caller.view, seenChange);
      const count = seenChange.added.length + seenChange.removed.length + seenChange.changed.length;
      if (count > mostNames) events.push("reset", snapshot());
      else if (count > 0) events.push("catalog", seenChange);
    }
  });

  onRun((name, event) => {
    if (event.type === "queued" && event.skill !== undefined) skillsOfRuns.set(event.runId, event.skill);
    if (event.type === "skill_called") skillsOfRuns.set(event.calledRunId, event.skill);
    const skill = skillsOfRuns.get(event.runId);
    if (event.type === "ended") skillsOfRuns.delete(event.runId);
    const found = callers.get(name);
    if (found?.caller.isAnonymous !== false) return;
    const told = toRunChange(event, skill);
    if (told !== undefined) found.events.push("run", told);
  });

  return {
    of(caller) {
      const found = callers.get(caller.name);
      if (found !== undefined) {
        // After a change of the configuration it may discover others.
        if (found.caller !== caller) found.events.push("reset", snapshot());
        callers.set(caller.name, { caller, events: found.events });
        return found.events;
      }
      before ??= publication();
      const events = createCallerEvents({ epoch, most: remembered });
      callers.set(caller.name, { caller, events });
      return events;
    },
    snapshot,
  };
}

/** Canonical names. */
interface CatalogChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** What changed of what the caller discovers. A skill that it discovers only before, or only after, is removed or added for it. */
function discoveredChange(
  { added, removed, changed }: Change,
  { before, after }: { readonly before: Publication; readonly after: Publication },
  caller: HttpCaller,
): CatalogChange {
  const seen: Record<keyof CatalogChange, string[]> = { added: [], removed: [], changed: [] };
  const nameIn = (publication: Publication, offered: OfferedSkill | undefined): string | undefined => {
    const published: PublishedSkill | undefined = offered && publication.bySlug.get(offered.skill.slug);
    return published !== undefined && caller.discovers(published) ? published.skill.name : undefined;
  };
  const tell = (was: OfferedSkill | undefined, is: OfferedSkill | undefined): void => {
    const [old, now] = [nameIn(before, was), nameIn(after, is)];
    if (old === now) {
      if (now !== undefined) seen.changed.push(now);
      return;
    }
    if (old !== undefined) seen.removed.push(old);
    if (now !== undefined) seen.added.push(now);
  };
  for (const offered of added) tell(undefined, offered);
  for (const offered of removed) tell(offered, undefined);
  for (const { before: was, after: is } of changed) tell(was, is);
  return seen;
}

/** What is told of a run: how far it is, never what it prints or returns. */
function toRunChange(event: RunEvent, skill: string | undefined): object | undefined {
  const { runId, type } = event;
  const run = { run_id: runId, ...(skill !== undefined && { skill }) };
  if (type === "queued" || type === "started") return { type, ...run };
  return type === "ended" ? { type, ...run, status: event.status } : undefined;
}
