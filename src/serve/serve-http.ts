import { setMaxListeners } from "node:events";
import type { RequestListener, ServerResponse } from "node:http";
import type { App } from "../runtime/app.ts";
import { SkillsError } from "../base/errors.ts";
import { toInternalError } from "../base/failures/internal-error.ts";
import type { RunEvent } from "../wire/run-event.ts";
import type { SessionSkills } from "../skills/skillset.ts";
import { pathOf, isRefusal } from "../wire/http.ts";
import { type AdmissionRules, admit } from "./admission/admit.ts";
import { createCallers } from "./admission/callers.ts";
import { createAddressLimiters, openUnreadBytes } from "./admission/limiter.ts";
import type { ServeConfig, CallerShares } from "./config.ts";
import {
  type HttpCaller,
  HttpExchange,
  type HttpRoute,
  type ServeContext,
  refuseRequest,
  type CreateRoutes,
} from "./serve-context.ts";
import { type ListenOptions, closeServer, hostsOf, isLoopbackListenHost, listen } from "./listen.ts";
import { openMcpOfCallers } from "./routes/mcp.ts";
import { createPublished, publishedRoutes } from "./publish.ts";
import { createRouter } from "./router.ts";
import { createMetrics } from "./telemetry/metrics.ts";
import { createRequestIds, toLoggedPath } from "./telemetry.ts";
import { eventRoutes } from "./routes/events.ts";
import { monitoringRoutes } from "./routes/monitoring.ts";
import { openApiRoutes } from "./routes/openapi.ts";
import { rpcRoutes } from "./routes/rpc.ts";

/** A listening HTTP server. */
export interface HttpServer {
  /** The URL, without a slash at its end. */
  readonly url: string;
  /**
   * Stops accepting, lets requests and runs go on for `limits.shutdownSeconds`, then cancels them. Idempotent; never throws. Resolves with
   * the number of cancelled requests and runs.
   */
  close(): Promise<number>;
  /** Replaces callers and shares. Ends requests of callers that are gone or have other rights, and returns the names of these callers. */
  replaceCallers(config: CallerShares): readonly string[];
}

/**
 * Opens the HTTP server. Throws INVALID_OPTIONS for a port in use or an address that cannot be bound. Throws INVALID_OPTIONS, too, if
 * other machines can reach the host but no caller has a token.
 */
export async function serveHttp(
  app: App,
  session: SessionSkills,
  given: ServeConfig,
  address: ListenOptions,
): Promise<HttpServer> {
  // A copy, because its callers may be replaced.
  const config: Mutable<ServeConfig> = { ...given };
  const isLoopback = isLoopbackListenHost(address.host);
  if (!isLoopback && config.callers.length === 0 && address.callersFollow !== true)
    throw new SkillsError(
      "INVALID_OPTIONS",
      `--host ${address.host} lets other machines connect, so that callers with tokens are needed: list them in the file of --config.`,
    );
  const { limits } = config;
  const draining = new AbortController();
  const stopped = new AbortController();
  // Every call adds a listener; from the eleventh on, Node would warn of a leak.
  setMaxListeners(0, stopped.signal);
  const running = new Map<ServerResponse, HttpCaller>();
  const held = new Set<Promise<void>>();
  const runListeners: ((caller: string, event: RunEvent) => void)[] = [];
  const metrics = createMetrics();
  let url = "";
  const baseUrl = (): string => config.publicUrl ?? url;
  const published = createPublished(app, session, { config, baseUrl });
  const callers = createCallers(config, session, published.publication, (caller) => (event) => {
    if (event.type === "ended") metrics.runEnded(event.status);
    for (const listener of runListeners) listener(caller, event);
  });
  const context: ServeContext = {
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
  const mcp = openMcpOfCallers(context);
  const rules: AdmissionRules = {
    callers,
    anonymousLimiter: createAddressLimiters(config.anonymous.limits, () => performance.now()),
    // Both are filled in once the port is known.
    hosts: [],
    origins: [],
  };
  const { requestEnded } = address;
  const answer = createListener(context, rules, [...createRoutes(context), mcp.route], running, requestEnded);
  const listening = await listen(address, limits, app, answer);
  url = listening.url;
  Object.assign(rules, hostsOf(address.host, listening.port, config.publicUrl));
  let closing: Promise<number> | undefined;
  async function close(): Promise<number> {
    draining.abort();
    const cancelled = await closeServer(listening.server, {
      clock: app.clock,
      drainMs: limits.shutdownSeconds * 1_000,
      running,
      held,
      cancel: () => stopped.abort(),
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

/** Admits and answers requests. An internal failure ends only its request, and is logged. */
function createListener(
  { app, session, anonymous, metrics, draining }: ServeContext,
  rules: AdmissionRules,
  routes: readonly HttpRoute[],
  /** Gets the response of every admitted request. */
  running: Map<ServerResponse, HttpCaller>,
  requestEnded: ListenOptions["requestEnded"],
): RequestListener {
  const route = createRouter(routes);
  const newRequestId = createRequestIds();
  const { ready } = session.catalog;
  let isRead = false;
  void ready.then(() => (isRead = true));

  function follow(exchange: HttpExchange): void {
    const { request, response } = exchange;
    const { method = "", url: target = "", headers } = request;
    const requestId = newRequestId(headers["x-request-id"], headers.authorization);
    const startedAt = performance.now();
    metrics.requestStarted(method);
    response.once("close", () => {
      running.delete(response);
      exchange.leave();
      const { caller, route: path } = exchange;
      const [ms, status] = [performance.now() - startedAt, response.statusCode];
      metrics.requestEnded(path, method, status, ms);
      requestEnded?.({ requestId, method, target, status, ms, caller: caller.name, isStream: path === "/events" });
    });
  }

  function fail(exchange: HttpExchange, error: unknown): void {
    const { response } = exchange;
    if (response.destroyed) return;
    const { message } = toInternalError(error, { log: app.log });
    if (response.headersSent) response.destroy();
    else exchange.sendJson(500, { error: { code: "INTERNAL", message } });
  }

  return (request, response) => {
    const { method = "", url: target = "" } = request;
    const path = pathOf(target);
    const routed = route(method, path ?? "");
    const exchange = new HttpExchange(request, response, anonymous);
    exchange.route = routed.path;
    follow(exchange);
    if (draining.aborted) response.setHeader("connection", "close");
    const admitted = admit(request, path, rules);
    if (isRefusal(admitted)) {
      request.resume();
      if (admitted.status === 401)
        app.log("warning", `A token that no caller has was refused: ${request.socket.remoteAddress ?? "a client"}, ${method} ${toLoggedPath(target)}.`); // prettier-ignore
      refuseRequest(response, path ?? target, admitted);
      return;
    }
    const { caller, limiter } = admitted;
    running.set(response, caller);
    Object.assign(exchange, { caller, limiter });
    if ("refusal" in routed) {
      refuseRequest(response, path ?? target, routed.refusal);
      return;
    }
    exchange.params = routed.params;
    const { answer, isIndependent = false } = routed.route;
    Promise.resolve(isRead || isIndependent ? undefined : ready)
      .then(() => answer(exchange))
      .then((refusal) => refusal && refuseRequest(response, path ?? target, refusal))
      .catch((error: unknown) => fail(exchange, error));
  };
}

/** Every route besides `/mcp`. */
export const createRoutes: CreateRoutes = (context) =>
  [monitoringRoutes, rpcRoutes, eventRoutes, openApiRoutes, ...publishedRoutes].flatMap((create) => create(context));
