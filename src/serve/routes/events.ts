import { randomBytes } from "node:crypto";
import type { Writable } from "node:stream";
import { LimitedMap } from "../../base/limited-map.ts";
import { networkOf } from "../../base/network/address.ts";
import type { Change, OfferedSkill } from "../../skills/skill.ts";
import type { HttpRefusal } from "../../wire/http.ts";
import type { RunEvent } from "../../wire/run-event.ts";
import { tooMany } from "../admission/limiter.ts";
import { type CallerEvents, type EventStream, createCallerEvents, openEventStream } from "../events.ts";
import { every } from "../../base/clock.ts";
import type { Publication } from "../publish/publication.ts";
import type { CreateRoutes, HttpCaller, ServeContext } from "../serve-context.ts";

const headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
};

/** The pause before a disconnected client comes back, in milliseconds. */
const retry = "retry: 2000\n\n";

/**
 * `GET /events`: server-sent events about changes of the skills that the caller discovers, and about its runs. A client that sends
 * `Last-Event-ID` gets the missed events. A new client, or one that has missed too many, gets `reset` first.
 */
export const eventRoutes: CreateRoutes = (context) => {
  const feed = createEventFeed(context);
  const streams = createEventStreams(context);
  return [
    {
      method: "GET",
      path: "/events",
      answer(exchange) {
        const { caller, request, response } = exchange;
        if (request.method === "HEAD") {
          response.writeHead(200, headers).end();
          return undefined;
        }
        const reader = { caller, address: request.socket.remoteAddress };
        const refusal = streams.refusalOf(reader);
        if (refusal !== undefined) return refusal;
        // The stream has a limit of its own.
        exchange.leave();
        const events = feed.of(caller);
        const { "last-event-id": lastEventId } = request.headers;
        const missed = typeof lastEventId === "string" ? events.since(lastEventId) : undefined;
        const first = [retry, ...(missed ?? [events.now("reset", feed.snapshot())])];
        response.writeHead(200, headers);
        streams.open(reader, response, first, events.listen);
        return undefined;
      },
    },
  ];
};

/** The maximum number of names in an event; after more changes at once, clients read the snapshot. */
const maxNames = 100;
const maxStored = 256;
/** The maximum number of runs whose skills are remembered: far more than run at a time. */
const maxRuns = 10_000;

/**
 * Creates one feed for all streams. Events about a skill go to callers that discover it, events about a run to the named caller that
 * started it. Anonymous callers get no events of runs, because they share a name.
 */
function createEventFeed({ session, publication, baseUrl, onRun }: ServeContext) {
  const epoch = randomBytes(6).toString("hex");
  const callers = new Map<string, { readonly caller: HttpCaller; readonly events: CallerEvents }>();
  const skillsOfRuns = new LimitedMap<string, string>(maxRuns);
  /** Returns the URL at which a client that has missed events reads the present state. */
  const snapshot = (): object => ({ snapshot: `${baseUrl()}/.well-known/skill-sharing` });
  let before: Publication | undefined;

  session.catalog.onChange((_snapshot, change) => {
    const after = publication();
    const published = { before: before ?? after, after };
    before = after;
    /** The changes by view: callers with the same view get the same event. */
    const byView = new Map<string, CatalogChange>();
    for (const { caller, events } of callers.values()) {
      const discovered = byView.get(caller.view) ?? discoveredChange(change, published, caller);
      byView.set(caller.view, discovered);
      const count = discovered.added.length + discovered.removed.length + discovered.changed.length;
      if (count > maxNames) events.push("reset", snapshot());
      else if (count > 0) events.push("catalog", discovered);
    }
  });

  onRun((name, event) => {
    if (event.type === "queued" && event.skill !== undefined) skillsOfRuns.set(event.runId, event.skill);
    if (event.type === "skill_called") skillsOfRuns.set(event.calledRunId, event.skill);
    const skill = skillsOfRuns.get(event.runId);
    if (event.type === "ended") skillsOfRuns.delete(event.runId);
    const found = callers.get(name);
    if (found?.caller.isAnonymous !== false) return;
    const change = toRunChange(event, skill);
    if (change !== undefined) found.events.push("run", change);
  });

  return {
    /** Returns the events of a caller, which are gathered from its first stream on. */
    of(caller: HttpCaller): CallerEvents {
      const found = callers.get(caller.name);
      before ??= publication();
      const events = found?.events ?? createCallerEvents({ epoch, max: maxStored });
      // After a change of the configuration, the caller may discover other skills.
      if (found !== undefined && found.caller !== caller) events.push("reset", snapshot());
      callers.set(caller.name, { caller, events });
      return events;
    },
    snapshot,
  };
}

/** The canonical names of changed skills. */
type CatalogChange = Record<"added" | "removed" | "changed", string[]>;

/** Returns the change as the caller discovers it. A skill that is discovered only before, or only after, is removed or added. */
function discoveredChange(
  { added, removed, changed }: Change,
  { before, after }: { readonly before: Publication; readonly after: Publication },
  caller: HttpCaller,
): CatalogChange {
  const discovered: CatalogChange = { added: [], removed: [], changed: [] };
  const nameIn = (publication: Publication, offered: OfferedSkill | undefined): string | undefined => {
    const published = offered && publication.bySlug.get(offered.skill.slug);
    return published !== undefined && caller.discovers(published) ? published.skill.name : undefined;
  };
  const add = (was: OfferedSkill | undefined, is: OfferedSkill | undefined): void => {
    const [old, now] = [nameIn(before, was), nameIn(after, is)];
    if (old === now) {
      if (now !== undefined) discovered.changed.push(now);
      return;
    }
    if (old !== undefined) discovered.removed.push(old);
    if (now !== undefined) discovered.added.push(now);
  };
  for (const offered of added) add(undefined, offered);
  for (const offered of removed) add(offered, undefined);
  for (const { before: was, after: is } of changed) add(was, is);
  return discovered;
}

/** Returns the progress of a run, without its output or result. */
function toRunChange(event: RunEvent, skill: string | undefined): object | undefined {
  const { runId, type } = event;
  const run = { run_id: runId, ...(skill !== undefined && { skill }) };
  if (type === "queued" || type === "started") return { type, ...run };
  return type === "ended" ? { type, ...run, status: event.status } : undefined;
}

/** The reader of a stream. */
interface Reader {
  readonly caller: Pick<HttpCaller, "name" | "isAnonymous">;
  readonly address: string | undefined;
}

/** The open streams. They get comments while nothing happens, and end when the server stops. */
interface OpenStreams {
  /** Returns why a reader gets no further stream. */
  readonly refusalOf: (reader: Reader) => HttpRefusal | undefined;
  readonly open: (reader: Reader, response: Writable, first: readonly string[], listen: CallerEvents["listen"]) => void;
}

const beatEveryMs = 15_000;
const retrySeconds = 5;
type StreamContext = Pick<ServeContext, "app" | "config" | "draining" | "metrics">;

export function createEventStreams({ app, config, draining, metrics }: StreamContext): OpenStreams {
  const { clock } = app;
  /** The open streams with the reader for which they count. Only callers without a token are distinguished by address. */
  const open = new Map<EventStream, { readonly name: string; readonly network: string | undefined }>();
  const max = config.limits.eventStreams;
  /** One caller, or all anonymous ones together, have at most a quarter of the streams; one address at most a 16th of that. */
  const maxOfCaller = Math.max(1, Math.floor(max / 4));
  const maxOfAddress = Math.max(1, Math.floor(maxOfCaller / 16));
  let stopBeating: (() => void) | undefined;

  const holderOf = ({ caller: { name, isAnonymous }, address = "" }: Reader) => ({
    name,
    network: isAnonymous ? networkOf(address) : undefined,
  });

  draining.addEventListener("abort", () => {
    for (const stream of [...open.keys()]) stream.end();
  });

  return {
    refusalOf(reader) {
      if (draining.aborted) return tooMany("The server is stopping.", retrySeconds, 503);
      if (open.size >= max) return tooMany(`The limit of ${max} event streams is reached.`, retrySeconds, 503);
      const { name, network } = holderOf(reader);
      const others = [...open.values()];
      if (network !== undefined && others.filter((other) => other.network === network).length >= maxOfAddress)
        return limitReached(maxOfAddress, "one address without token");
      if (others.filter((other) => other.name === name).length >= maxOfCaller)
        return limitReached(maxOfCaller, "one caller");
      return undefined;
    },
    open(reader, response, first, listen) {
      metrics.streamOpened();
      if (open.size === 0)
        stopBeating = every(clock, beatEveryMs, () => [...open.keys()].forEach((stream) => stream.beat()));
      const stream = openEventStream(response, first, listen, () => {
        open.delete(stream);
        metrics.streamClosed();
        if (open.size === 0) stopBeating?.();
      });
      open.set(stream, holderOf(reader));
    },
  };
}

function limitReached(limit: number, of: string): HttpRefusal {
  return tooMany(`The limit of ${limit} event streams of ${of} is reached; close one.`, retrySeconds);
}
