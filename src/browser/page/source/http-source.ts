import { signal } from "@preact/signals";
import type { EvalLog, ShownEvalRun, SkillEvals } from "../../wire/evals.ts";
import type { RunRequest, RunStarted, ShownRun, SkillHistory, UploadedBlob } from "../../wire/runs.ts";
import type { Budget, SessionList } from "../../wire/sessions.ts";
import type {
  About,
  DecisionRequest,
  FileContent,
  OpenFile,
  SkillDetail,
  SkillList,
  SkillListChange,
  SkillRow,
} from "../../wire/skills.ts";
import type { AppliedPlan, Discovered, PlanRequest, SourceList, SourcePlan } from "../../wire/sources.ts";
import {
  createServerFetch,
  jsonBody,
  readEvents,
  type ServerFetch,
  type ServerFetchInit,
  type ServerSentEvent,
} from "./http-request.ts";
import { type BrowserSkillSource, type ConnectionState, type ServerEvents, SourceError } from "./skill-source.ts";

const firstRetryMs = 250;
const maxRetryMs = 15_000;

type Listener = (event: never) => void;

/**
 * Opens the skills of a server: the list is read once, then updated by events. A lost connection is retried without end, then all that
 * may have been missed is read again. `base` has no slash at its end. `wait` is called before each next attempt.
 */
export function createHttpSource(base: string, { wait = waitAbortably } = {}): BrowserSkillSource {
  const closing = new AbortController();
  const list = signal<SkillList | undefined>(undefined);
  const connection = signal<ConnectionState>("connecting");
  const exchange = createServerFetch(base, () => void (connection.value = "refused"));
  const { server, read, emit } = openServer(exchange);
  const { about } = server;
  const readList = async (): Promise<void> => void (list.value = await read("/api/skills", closing.signal));
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
      // The revisions of a restarted server say nothing about the list of the previous one.
      const { revision } = JSON.parse(data) as Pick<SkillList, "revision">;
      if (!isFirst || list.value === undefined || list.value.revision < revision) await readList();
    }
    lastEvent = id;
  };

  /** Handles one connection until it ends. The server repeats the events after the last one received, or sends `reset` if it cannot. */
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
      connection.value = "live";
      read<About>("/api/about", either).then(
        (newer) => (about.value = { ...about.value, ...newer }),
        () => undefined, // The connection ended; `about` is read again with the next one.
      );
      if (!isFirst) emit("reconnected", undefined);
      if (body !== null) for await (const event of readEvents(body)) await receive(event, isFirst);
    } finally {
      ending.abort();
    }
  };

  const isOver = (): boolean => closing.signal.aborted || connection.value === "refused";
  const keepConnected = async (): Promise<void> => {
    for (let attempts = 0, isFirst = true; !isOver(); isFirst = false) {
      try {
        await connect(isFirst, () => (attempts = 0));
      } catch {
        // `connection` says so until an attempt succeeds.
      }
      if (isOver()) return;
      connection.value = "lost";
      await wait(Math.min(maxRetryMs, firstRetryMs * 2 ** attempts++), closing.signal);
    }
  };
  void keepConnected();

  return {
    list,
    connection,
    server,
    detail: (id, sections, aborted) => {
      const path = `${skillPath(id)}?${sections.map((section) => `part=${section}`).join("&")}`;
      const either = AbortSignal.any([closing.signal, ...(aborted ? [aborted] : [])]);
      return read<SkillDetail>(path, either).catch((error: unknown) => {
        if (error instanceof SourceError && error.code === "SKILL_NOT_FOUND") return undefined;
        throw error;
      });
    },
    close: () => closing.abort(),
  };
}

async function waitAbortably(ms: number, aborted: AbortSignal): Promise<void> {
  const either = AbortSignal.any([aborted, AbortSignal.timeout(ms)]);
  await new Promise((resolve) => either.addEventListener("abort", resolve));
}

/** The requests to the server of `acp-skills browse` besides the list, one function a route. All reject with a {@link SourceError}. */
export type SkillServer = ReturnType<typeof openServer>["server"];

function openServer(exchange: ServerFetch) {
  const about = signal<About | undefined>(undefined);
  const listeners = new Map<keyof ServerEvents, Set<Listener>>();
  const emit = <Kind extends keyof ServerEvents>(kind: Kind, event: ServerEvents[Kind]): void => {
    for (const listener of listeners.get(kind) ?? []) (listener as (event: ServerEvents[Kind]) => void)(event);
  };
  const read = async <Answer>(path: string, aborted?: AbortSignal, init: ServerFetchInit = {}): Promise<Answer> =>
    (await (await exchange(path, { ...init, signal: aborted ?? null })).json()) as Answer;
  const send = <Answer>(path: string, value: unknown, aborted?: AbortSignal): Promise<Answer> =>
    read(path, aborted, jsonBody(value));
  const server = {
    /** The facts about the server; undefined until they were read. */
    about,
    /** Reads `about` with its sandbox. */
    inspectSandbox: async () => void (about.value = await read("/api/about?sandbox")),
    /** Calls `listener` for every event of `kind` until the returned function is called. */
    on: <Kind extends keyof ServerEvents>(kind: Kind, listener: (event: ServerEvents[Kind]) => void) => {
      const those = listeners.get(kind) ?? new Set();
      listeners.set(kind, those.add(listener));
      return () => void those.delete(listener);
    },
    file: (skill: string, path: string, aborted: AbortSignal) =>
      read<FileContent>(`${skillPath(skill)}/files?path=${encodeURIComponent(path)}`, aborted),
    history: (skill: string, aborted: AbortSignal) => read<SkillHistory>(`${skillPath(skill)}/history`, aborted),
    evals: (skill: string, aborted: AbortSignal) => read<SkillEvals>(`${skillPath(skill)}/evals`, aborted),
    evalSession: (skill: string, iteration: number, { id, withSkill, number }: ShownEvalRun) => {
      const run = new URLSearchParams(
        Object.entries({ iteration, id, withSkill, number }).map(([name, value]) => [name, String(value)]),
      );
      return read<EvalLog>(`${skillPath(skill)}/evals/session?${run}`);
    },
    decide: (skill: string, decision: DecisionRequest) => send<unknown>(`${skillPath(skill)}/decision`, decision),
    open: (skill: string, file: OpenFile) => send<unknown>(`${skillPath(skill)}/open`, file),
    startRun: (request: RunRequest) => send<RunStarted>("/api/runs", request),
    run: (run: string) => read<ShownRun>(`/api/runs/${encodeURIComponent(run)}`),
    cancelRun: (run: string) => read<unknown>(`/api/runs/${encodeURIComponent(run)}`, undefined, { method: "DELETE" }),
    storeBlob: (body: Blob) => {
      const headers = { "content-type": body.type === "" ? "application/octet-stream" : body.type };
      return read<UploadedBlob>("/api/blobs", undefined, { method: "POST", headers, body });
    },
    readBlob: async (blob: string) => await (await exchange(`/api/blobs/${encodeURIComponent(blob)}`)).blob(),
    sessions: (aborted: AbortSignal) => read<SessionList>("/api/sessions", aborted),
    budget: (aborted: AbortSignal) => read<Budget>("/api/budget", aborted),
    sources: (aborted: AbortSignal) => read<SourceList>("/api/sources", aborted),
    discover: (source: string, aborted: AbortSignal) => send<Discovered>("/api/sources/discover", { source }, aborted),
    plan: (request: PlanRequest, aborted: AbortSignal) => send<SourcePlan>("/api/sources/plan", request, aborted),
    apply: ({ plan, nonce }: SourcePlan) => send<AppliedPlan>("/api/sources/apply", { plan, nonce }),
  };
  return { server, read, emit };
}

function skillPath(id: string): string {
  return `/api/skills/${encodeURIComponent(id)}`;
}

/** The list after a change, with the same objects for untouched rows; undefined if a change in between was missed. */
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
