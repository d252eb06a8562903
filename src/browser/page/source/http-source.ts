import { signal, type Signal } from "@preact/signals";
import type { About, SkillDetail, SkillList, SkillListChange, SkillRow } from "../../wire/skills.ts";
import { readEvents, type ServerSentEvent } from "./event-stream.ts";
import { createServerFetch, jsonBody, type ServerFetch, type ServerFetchInit } from "./http-request.ts";
import {
  type ServerEvents,
  type ConnectionState,
  type BrowserSkillSource,
  SourceError,
  type SkillServer,
} from "./skill-source.ts";

interface HttpSourceOptions {
  readonly fetch?: typeof globalThis.fetch;
  /** Waits before the next attempt. */
  readonly wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

const firstRetryMilliseconds = 250;
const longestRetryMilliseconds = 15_000;

type Listener = (event: never) => void;

/**
 * Skills of a server: read once, then updated by its events. When the connection is lost it tries again, as long as it takes, and
 * then reads everything that may have been missed. `base` has no slash at its end.
 */
export function createHttpSource(base: string, options: HttpSourceOptions = {}): BrowserSkillSource {
  const { fetch = globalThis.fetch.bind(globalThis), wait = waitAbortably } = options;
  const closing = new AbortController();
  const list = signal<SkillList | undefined>(undefined);
  const about = signal<About | undefined>(undefined);
  const connection = signal<ConnectionState>({ status: "connecting" });
  const listeners = new Map<keyof ServerEvents, Set<Listener>>();
  const exchange = createServerFetch(base, fetch, () => {
    connection.value = { status: "refused" };
  });

  const emit = <Kind extends keyof ServerEvents>(kind: Kind, event: ServerEvents[Kind]): void => {
    for (const listener of listeners.get(kind) ?? []) (listener as (event: ServerEvents[Kind]) => void)(event);
  };
  const read = async (path: string, aborted: AbortSignal): Promise<unknown> =>
    (await exchange(path, { signal: aborted })).json();
  const readList = async (): Promise<void> => {
    list.value = (await read("/api/skills", closing.signal)) as SkillList;
  };
  let lastEvent = "";
  const receive = async ({ id, kind, data }: ServerSentEvent, isFirst: boolean): Promise<void> => {
    if (kind === "skills") {
      const changed = list.value && applyChange(list.value, JSON.parse(data) as SkillListChange);
      if (changed === undefined) await readList();
      else list.value = changed;
      emit("skills", undefined);
    } else if (kind === "run") emit("run", JSON.parse(data) as ServerEvents["run"]);
    else if (kind === "skill") emit("skill", JSON.parse(data) as ServerEvents["skill"]);
    else if (kind === "sessions") emit("sessions", undefined);
    else if (kind === "reset") {
      // Revisions of a server that was started again say nothing about the list of the one before.
      const { revision } = JSON.parse(data) as Pick<SkillList, "revision">;
      if (!isFirst || list.value === undefined || list.value.revision < revision) await readList();
    }
    lastEvent = id;
  };

  /** One connection, until it ends. The server repeats what came after the last event, or says that it cannot (`reset`). */
  const connect = async (isFirst: boolean, onLive: () => void): Promise<void> => {
    const ending = new AbortController();
    const either = AbortSignal.any([ending.signal, closing.signal]);
    try {
      const early = list.value === undefined ? readList() : undefined;
      early?.catch(() => undefined); // Awaited below.
      const headers = { accept: "text/event-stream", ...(lastEvent !== "" && { "last-event-id": lastEvent }) };
      const { body } = await exchange("/api/events", { headers, cache: "no-store", signal: either });
      await early;
      onLive();
      connection.value = { status: "live" };
      void readAbout(either);
      if (!isFirst) emit("reconnected", undefined);
      if (body !== null) for await (const event of readEvents(body)) await receive(event, isFirst);
    } finally {
      ending.abort();
    }
  };
  const readAbout = async (aborted: AbortSignal): Promise<void> => {
    try {
      about.value = { ...about.value, ...((await read("/api/about", aborted)) as About) };
    } catch {
      // The connection ended; it is read again with the next one.
    }
  };

  const isOver = (): boolean => closing.signal.aborted || connection.value.status === "refused";
  const keepConnected = async (): Promise<void> => {
    for (let attempts = 0, isFirst = true; !isOver(); isFirst = false) {
      try {
        await connect(isFirst, () => (attempts = 0));
      } catch {
        // Said by the status, until an attempt succeeds.
      }
      if (isOver()) return;
      connection.value = { status: "lost", attempts: ++attempts };
      await wait(Math.min(longestRetryMilliseconds, firstRetryMilliseconds * 2 ** (attempts - 1)), closing.signal);
    }
  };
  void keepConnected();

  return {
    list,
    connection,
    detail: async (id, parts, aborted) => {
      try {
        return (await read(
          `${skillPath(id)}?${parts.map((part) => `part=${part}`).join("&")}`,
          AbortSignal.any([closing.signal, ...(aborted ? [aborted] : [])]),
        )) as SkillDetail;
      } catch (error) {
        if (error instanceof SourceError && error.code === "SKILL_NOT_FOUND") return undefined;
        throw error;
      }
    },
    server: createHttpServer(exchange, about, (kind, listener) => {
      const those = listeners.get(kind) ?? new Set();
      listeners.set(kind, those.add(listener));
      return () => those.delete(listener);
    }),
    close: () => {
      closing.abort();
    },
  };
}

async function waitAbortably(milliseconds: number, aborted: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      aborted.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    aborted.addEventListener("abort", done);
  });
}

/** The functions of the server, each one request. */
function createHttpServer(exchange: ServerFetch, about: Signal<About | undefined>, on: SkillServer["on"]): SkillServer {
  const read = async <Answer>(path: string, signal?: AbortSignal): Promise<Answer> =>
    (await (await exchange(path, signal === undefined ? {} : { signal })).json()) as Answer;
  const send = async <Answer>(path: string, value: unknown, signal?: AbortSignal): Promise<Answer> =>
    (await (await exchange(path, { ...jsonBody(value), ...(signal !== undefined && { signal }) })).json()) as Answer;
  const act = async (path: string, init: ServerFetchInit): Promise<void> => {
    const response = await exchange(path, init);
    await response.body?.cancel();
  };

  return {
    about,
    inspectSandbox: async () => {
      about.value = await read<About>("/api/about?sandbox");
    },
    on,
    file: (skill, path, signal) => read(`${skillPath(skill)}/files?path=${encodeURIComponent(path)}`, signal),
    history: (skill, signal) => read(`${skillPath(skill)}/history`, signal),
    decide: (skill, decision) => act(`${skillPath(skill)}/decision`, jsonBody(decision)),
    open: (skill, file) => act(`${skillPath(skill)}/open`, jsonBody(file)),
    startRun: (request) => send("/api/runs", request),
    run: (run, signal) => read(`/api/runs/${encodeURIComponent(run)}`, signal),
    cancelRun: (run) => act(`/api/runs/${encodeURIComponent(run)}`, { method: "DELETE" }),
    storeBlob: async (bytes) =>
      (await (
        await exchange("/api/blobs", {
          method: "POST",
          headers: { "content-type": bytes.type === "" ? "application/octet-stream" : bytes.type },
          body: bytes,
        })
      ).json()) as Awaited<ReturnType<SkillServer["storeBlob"]>>,
    readBlob: async (blob, signal) =>
      await (await exchange(`/api/blobs/${encodeURIComponent(blob)}`, signal === undefined ? {} : { signal })).blob(),
    sessions: (signal) => read("/api/sessions", signal),
    budget: (signal) => read("/api/budget", signal),
    sources: (signal) => read("/api/sources", signal),
    discover: (source, signal) => send("/api/sources/discover", { source }, signal),
    plan: (request, signal) => send("/api/sources/plan", request, signal),
    apply: ({ plan, nonce }) => send("/api/sources/apply", { plan, nonce }),
  };
}

function skillPath(id: string): string {
  return `/api/skills/${encodeURIComponent(id)}`;
}

/** The list after a change, with untouched rows as they were; undefined if a change in between was missed. */
export function applyChange(list: SkillList, change: SkillListChange): SkillList | undefined {
  if (change.revision <= list.revision) return list;
  if (change.revision !== list.revision + 1) return undefined;
  const put = new Map(change.put.map((row) => [row.id, row]));
  const removed = new Set(change.removed);
  const unchanged: SkillRow[] = [];
  for (const row of list.skills) {
    if (removed.has(row.id)) continue;
    const newer = put.get(row.id);
    if (newer === undefined) unchanged.push(row);
    else if (newer.name === row.name) {
      unchanged.push(newer);
      put.delete(row.id);
    }
  }
  return { ...list, revision: change.revision, skills: merge(unchanged, [...put.values()].sort(byName)) };
}

function merge(skills: readonly SkillRow[], added: readonly SkillRow[]): readonly SkillRow[] {
  if (added.length === 0) return skills;
  const merged: SkillRow[] = [];
  let next = 0;
  for (const row of skills) {
    for (let one = added[next]; one !== undefined && byName(one, row) < 0; one = added[++next]) merged.push(one);
    merged.push(row);
  }
  return [...merged, ...added.slice(next)];
}

function byName(one: SkillRow, other: SkillRow): number {
  if (one.name !== other.name) return one.name < other.name ? -1 : 1;
  return one.id < other.id ? -1 : Number(one.id > other.id);
}
