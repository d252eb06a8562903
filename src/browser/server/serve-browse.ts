import type { ServerResponse } from "node:http";
import type { App } from "../../runtime/app.ts";
import { createPeerCheck } from "../../wire/http.ts";
import { SkillEnvironments, hostMachine } from "../../skills/environment.ts";
import type { SessionSkills } from "../../skills/skillset.ts";
import type { BrowseOptions, BrowseServer } from "../server.ts";
import type { Reset } from "../wire/skills.ts";
import { closeServer, listen } from "../../serve/listen.ts";
import { Nonces } from "./admission/nonces.ts";
import { type SignedInPages, createSignedInPages } from "./admission/admit-page.ts";
import { answerPage } from "./answer/answer-page.ts";
import { browseRoutes } from "./api/routes.ts";
import type { BrowseContext, BrowseRoutes } from "./browse-context.ts";
import { AllowedNext } from "./decide.ts";
import { openLiveEvents } from "./live/live-events.ts";
import { openTouchedSkills } from "./live/touched-skills.ts";
import { readPageFiles } from "./answer/page-files.ts";
import { openShownSkills } from "./rows/shown-skills.ts";
import { defaultConfig } from "../../serve/config.ts";
import type { Clock } from "../../base/clock.ts";

/** Loopback only, and not configurable: whoever has the cookie can approve and run code as the user. */
const host = "127.0.0.1";

const limits = { ...defaultConfig.limits, connections: 64 };
const drainMs = 2_000;
const machineKnownMs = 60_000;
/** With more changed rows, pages read the list again, because events are retained in memory for disconnected pages. */
const maxRowsSent = 500;

/** Opens the skill browser. Rejects with INVALID_OPTIONS for a port in use, and UNREADABLE if the page is missing. */
export async function serveBrowse(app: App, session: SessionSkills, options: BrowseOptions): Promise<BrowseServer> {
  const { port = 0, idleMs, idle: ended, pageDirectory, isOwnPeer, ...settings } = options;
  const { dataDirectory } = settings;
  const { clock, log } = app;
  const files = readPageFiles(pageDirectory);
  const stopped = new AbortController();
  const running = new Set<ServerResponse>();
  const held = new Set<Promise<void>>();
  const environments = new SkillEnvironments({
    clock,
    log,
    openMachine: hostMachine,
    findSandbox: () => app.findSandbox(),
  });
  const reset = (): Reset => ({ revision: skills.revision() });
  const events = openLiveEvents(clock, reset, () => idle.touch());
  const skills = openShownSkills({
    app,
    session,
    environments,
    ...settings,
    changed(change) {
      const { revision, put, removed } = change;
      if (put.length + removed.length > maxRowsSent) events.push("reset", { revision } satisfies Reset);
      else events.push("skills", change);
    },
  });
  const touched = openTouchedSkills({ app, skills, events, dataDirectory });
  const context: BrowseContext = {
    app,
    session,
    skills,
    events,
    touched,
    nonces: new Nonces(),
    once: new AllowedNext(),
    ...settings,
    machine: cachedFor(machineKnownMs, clock, hostMachine),
    stopped: stopped.signal,
    hold: (work) => {
      held.add(work);
      void work.finally(() => held.delete(work));
    },
  };
  const isUsed = (): boolean => events.connected() > 0 || running.size > 0 || held.size > 0;
  const idle = watchIdle(clock, idleMs, isUsed, ended);
  async function closeAll(): Promise<void> {
    idle.stop();
    events.close();
    skills.close();
    environments.close();
    await touched.close();
  }
  let own = "";
  let sessions: SignedInPages | undefined;
  const openSessions = (): SignedInPages => (sessions ??= createSignedInPages(listening.port, clock));
  const answer = answerPage(context, {
    host: () => own,
    files,
    sessions: openSessions,
    routes: Object.assign({}, ...browseRoutes.map((mount) => mount(context))) as BrowseRoutes,
    running,
    used: idle.touch,
    isOwnPeer: isOwnPeer ?? createPeerCheck(log, "the skill browser"),
  });
  const listening = await listen({ host, port }, limits, app, answer).catch(async (error: unknown) => {
    await closeAll();
    throw error;
  });
  own = new URL(listening.url).host;

  let closing: Promise<void> | undefined;
  async function close(): Promise<void> {
    await closeAll();
    const cancel = (): void => stopped.abort();
    await closeServer(listening.server, { clock, drainMs, running, held, cancel });
    stopped.abort();
  }
  return {
    newAddress: () => `http://${own}/#code=${openSessions().newCode()}`,
    close: () => (closing ??= close()),
  };
}

/** Caches a value for `ms` milliseconds, then makes it again. */
function cachedFor<Value>(ms: number, clock: App["clock"], open: () => Value): () => Value {
  let cached: { readonly value: Value; readonly at: number } | undefined;
  return () => {
    if (cached === undefined || clock.now() - cached.at >= ms) cached = { value: open(), at: clock.now() };
    return cached.value;
  };
}

/** Calls `ended` once, when nothing was requested (`touch`) for `ms` milliseconds and `isUsed` is false: no page, request or work. */
function watchIdle(
  clock: Clock,
  ms: number,
  isUsed: () => boolean,
  ended: () => void,
): Record<"touch" | "stop", () => void> {
  let lastUse = clock.now();
  let cancel = (): void => undefined;
  function check(): void {
    const left = isUsed() ? ms : lastUse + ms - clock.now();
    if (left <= 0) ended();
    else cancel = clock.after(left, check);
  }
  check();
  return { touch: () => void (lastUse = clock.now()), stop: () => cancel() };
}
