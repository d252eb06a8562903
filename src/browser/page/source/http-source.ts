import { signal } from "@preact/signals";
import type { About, SkillDetail, SkillList, SkillListChange, SkillRow } from "../../wire/skills.ts";
import { readEvents, type ServerSentEvent } from "./event-stream.ts";
import { createServerFetch, jsonBody, type ServerFetchInit } from "./http-request.ts";
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
  const read = async <Answer>(path: string, aborted?: AbortSignal, init: ServerFetchInit = {}): Promise<Answer> =>
    (await (await exchange(path, { ...init, signal: aborted ?? null })).json()) as Answer;
  const send = <Answer>(path: string, value: unknown, aborted?: AbortSignal): Promise<Answer> =>
    read(path, aborted, jsonBody(value));
  const readList = async (): Promise<void> => {
    list.value = await read("/api/skills", closing.signal);
  };
  let lastEvent = "";
  const receive = async ({ id, kind, data }: ServerSentEvent, isFirst: boolean): Promise<void> => {
    if (kind === "skills") {
      const changed = list.value && applyChange(list.value, JSON.parse(data) as SkillListChange);
      if (changed === undefined) await readList();
      else list.value = changed;
      emit("skills", undefined);
    } else if (kind === "run" || kind === "skill") emit(kind, JSON.parse(data) as never);
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
      read<About>("/api/about", either).then(
        (newer) => (about.value = { ...about.value, ...newer }),
        () => undefined, // The connection ended; it is read again with the next one.
      );
      if (!isFirst) emit("reconnected", undefined);
      if (body !== null) for await (const event of readEvents(body)) await receive(event, isFirst);
    } finally {
      ending.abort();
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

  const server: SkillServer = {
    about,
    inspectSandbox: async () => {
      about.value = await read("/api/about?sandbox");
    },
    on: (kind, listener) => {
      const those = listeners.get(kind) ?? new Set();
      listeners.set(kind, those.add(listener));
      return () => those.delete(listener);
    },
    file: (skill, path, aborted) => read(`${skillPath(skill)}/files?path=${encodeURIComponent(path)}`, aborted),
    history: (skill, aborted) => read(`${skillPath(skill)}/history`, aborted),
    decide: (skill, decision) => send(`${skillPath(skill)}/decision`, decision),
    open: (skill, file) => send(`${skillPath(skill)}/open`, file),
    startRun: (request) => send("/api/runs", request),
    run: (run, aborted) => read(`/api/runs/${encodeURIComponent(run)}`, aborted),
    cancelRun: (run) => read(`/api/runs/${encodeURIComponent(run)}`, undefined, { method: "DELETE" }),
    storeBlob: (body) => {
      const headers = { "content-type": body.type === "" ? "application/octet-stream" : body.type };
      return read("/api/blobs", undefined, { method: "POST", headers, body });
    },
    readBlob: async (blob) => await (await exchange(`/api/blobs/${encodeURIComponent(blob)}`)).blob(),
    sessions: (aborted) => read("/api/sessions", aborted),
    budget: (aborted) => read("/api/budget", aborted),
    sources: (aborted) => read("/api/sources", aborted),
    discover: (source, aborted) => send("/api/sources/discover", { source }, aborted),
    plan: (request, aborted) => send("/api/sources/plan", request, aborted),
    apply: ({ plan, nonce }) => send("/api/sources/apply", { plan, nonce }),
  };
  return {
    list,
    connection,
    server,
    detail: (id, parts, aborted) => {
      const path = `${skillPath(id)}?${parts.map((part) => `part=${part}`).join("&")}`;
      const either = AbortSignal.any([closing.signal, ...(aborted ? [aborted] : [])]);
      return read<SkillDetail>(path, either).catch((error: unknown) => {
        if (error instanceof SourceError && error.code === "SKILL_NOT_FOUND") return undefined;
        throw error;
      });
    },
    close: () => closing.abort(),
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

function skillPath(id: string): string {
  return `/api/skills/${encodeURIComponent(id)}`;
}

/** The list after a change, with untouched rows as they were; undefined if a change in between was missed. */
export function applyChange(list: SkillList, { revision, put, removed }: SkillListChange): SkillList | undefined {
  if (revision <= list.revision) return list;
  if (revision !== list.revision + 1) return undefined;
  const replaced = new Set([...removed, ...put.map(({ id }) => id)]);
  const unchanged = list.skills.filter(({ id }) => !replaced.has(id));
  return { ...list, revision, skills: [...unchanged, ...put].sort(byName) };
}

function byName(one: SkillRow, other: SkillRow): number {
  if (one.name !== other.name) return one.name < other.name ? -1 : 1;
  return one.id < other.id ? -1 : Number(one.id > other.id);
}
