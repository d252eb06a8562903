import { setMaxListeners } from "node:events";
import type { ServerResponse } from "node:http";
import type { App } from "../runtime/app.ts";
import { SkillsError } from "../base/errors.ts";
import type { RunEvent } from "../wire/run-event.ts";
import type { SessionSkills } from "../skills/skillset.ts";
import type { AdmissionRules } from "./admission/admit.ts";
import { createCallers } from "./admission/callers.ts";
import { createAddressLimiters, openUnreadBytes } from "./admission/limiter.ts";
import { answerRequests } from "./serve-http/answer-requests.ts";
import type { ServeConfig } from "./config.ts";
import type { HttpCaller, HttpDoor, HttpRequestListener } from "./http-door.ts";
import { type ListenOptions, closeServer, hostsOf, isLoopbackListenHost, listen } from "./listen.ts";
import { openMcpOfCallers } from "./mcp.ts";
import { createServeRoutes } from "./serve-http/open-routes.ts";
import { createPublished, isArtifactPath } from "./publish.ts";
import { createRpcListener } from "./rpc/rpc.ts";
import { healthPaths } from "./telemetry/health-routes.ts";
import { createMetrics } from "./telemetry/metrics.ts";
import { createRequestFacts } from "./telemetry/request-facts.ts";

/** A server that listens. */
export interface HttpServer {
  /** Without a slash at its end. */
  readonly url: string;
  /**
   * Stops accepting, lets requests and runs go on for `limits.shutdownSeconds`, then cancels them. Idempotent; never throws. Resolves
   * with the number of requests that were cancelled.
   */
  close(): Promise<number>;
  /** Takes over callers and shares. Requests of callers that are gone, or have other rights, end. Returns their names. */
  replaceCallers(config: Pick<ServeConfig, "callers" | "shares">): readonly string[];
}

/**
 * Opens the HTTP door. Throws INVALID_OPTIONS for a port in use, an address that cannot be bound, and for a host that others can reach
 * without callers that have tokens.
 */
export async function serveHttp(
  app: App,
  session: SessionSkills,
  given: ServeConfig,
  address: ListenOptions,
): Promise<HttpServer> {
  // Its callers may be replaced.
  const config: Mutable<ServeConfig> = { ...given };
  const isLoopback = isLoopbackListenHost(address.host);
  if (!isLoopback && config.callers.length === 0)
    throw new SkillsError(
      "INVALID_OPTIONS",
      `--host ${address.host} lets other machines connect, so that callers with tokens are needed: list them in the file of --config.`,
    );
  const { limits } = config;
  const draining = new AbortController();
  const stopped = new AbortController();
  // Every call listens; from the eleventh on, Node would warn of a leak.
  setMaxListeners(0, stopped.signal);
  const running = new Map<ServerResponse, HttpCaller>();
  const held = new Set<Promise<void>>();
  const runListeners: ((caller: string, event: RunEvent) => void)[] = [];
  const metrics = createMetrics();
  let url = "";
  const baseUrl = (): string => config.publicUrl ?? url;
  const published = createPublished(app, session, { config, baseUrl });
  const callers = createCallers(config, {
    session,
    publication: published.publication,
    now: () => performance.now(),
    onRunEvent: (caller) => (event) => {
      if (event.type === "ended") metrics.runEnded(event.status);
      for (const listener of runListeners) listener(caller, event);
    },
  });
  const door: HttpDoor = {
    app,
    config,
    session,
    anonymous: callers.anonymous,
    ...published,
    unread: openUnreadBytes(limits.unreadBytes),
    baseUrl,
    isLocal: isLoopback && config.publicUrl === undefined,
    draining: draining.signal,
    stopped: stopped.signal,
    hold: (work) => {
      held.add(work);
      void work.finally(() => held.delete(work));
    },
    metrics,
    onRun: (listener) => void runListeners.push(listener),
  };
  const mcp = openMcpOfCallers(door);
  const answerRoutes = createServeRoutes(door);
  /** Those that hono does not route. */
  const direct: Readonly<Record<string, HttpRequestListener>> = { "/rpc": createRpcListener(door), "/mcp": mcp.answer };
  const factsOf = createRequestFacts({
    metrics,
    anonymous: door.anonymous,
    requestEnded: address.requestEnded,
    ended(response, { limiter }) {
      running.delete(response);
      limiter?.leave();
    },
  });
  const rules: AdmissionRules = {
    callers,
    anonymousLimiter: createAddressLimiters(config.anonymous.limits, () => performance.now()),
    // Nobody can know them before the port is known.
    hosts: [],
    origins: [],
    isOpen: (path) => healthPaths.includes(path),
    isUnlimited: isArtifactPath,
  };

  const answer = answerRequests({ door, direct, answerRoutes, factsOf, rules, running });
  const listening = await listen(address, { limits, app, answer });
  url = listening.url;
  Object.assign(rules, hostsOf(address.host, listening.port, config.publicUrl));

  let closing: Promise<number> | undefined;
  async function close(): Promise<number> {
    draining.abort();
    const cancelled = await closeServer(listening.server, {
      clock: app.clock,
      seconds: limits.shutdownSeconds,
      running,
      held,
      cancel: () => {
        stopped.abort();
      },
    });
    stopped.abort();
    await mcp.close();
    return cancelled;
  }
  return {
    url,
    close: () => (closing ??= close()),
    replaceCallers({ callers: others, shares }) {
      Object.assign(config, { callers: others, shares });
      published.shares.replace(shares);
      const gone = callers.replace(others);
      for (const [response, caller] of running) if (gone.includes(caller)) response.destroy();
      mcp.forget(gone);
      return gone.map(({ name }) => name);
    },
  };
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };
