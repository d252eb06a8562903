import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { nothingHere } from "../../wire/http/refusal.ts";
import { mountEvents } from "../events/mount-events.ts";
import { type HttpDoor, type HttpEnv, type MountRoutes, toErrorBody, toRefusalResponse } from "../http-door.ts";
import { publishedRoutes } from "../publish.ts";
import { mountOpenApi } from "./openapi/mount-openapi.ts";
import { mountHealth } from "../telemetry/health-routes.ts";
import { mountMetrics } from "../telemetry/metrics-route.ts";
import type { RequestFacts } from "../telemetry/request-facts.ts";

/** Every route besides `/rpc` and `/mcp`, by concern. */
export const serveRoutes: readonly MountRoutes[] = [
  mountHealth,
  mountMetrics,
  mountEvents,
  mountOpenApi,
  ...publishedRoutes,
];

const json = { "content-type": "application/json", "cache-control": "no-store" };

/**
 * Answers by the routes of hono. Paths without a route get 404, and known paths with another method 405. Each path has one handler and
 * no middleware: hono calls a single handler directly, and several through promises, which takes as long as the answer.
 */
export function createServeRoutes(
  door: HttpDoor,
): (request: IncomingMessage, response: ServerResponse, facts: RequestFacts) => Promise<void> {
  const mounted = new Hono<HttpEnv>();
  for (const mount of serveRoutes) mount(mounted, door);
  const hono = new Hono<HttpEnv>();
  const factsOf = new WeakMap<IncomingMessage, RequestFacts>();
  for (const { method, path, handler } of mounted.routes) {
    hono.on(method, path, (context, next) => {
      const facts = factsOf.get(context.env.incoming);
      if (facts !== undefined) facts.route = path;
      return handler(context, next) as Response | Promise<Response>;
    });
  }
  const otherMethods = refuseOtherMethods(mounted);
  hono.notFound((context) => otherMethods.fetch(context.req.raw, context.env));
  hono.onError((error, context) => {
    const id = randomBytes(8).toString("hex");
    door.app.log("error", `A request failed (error id ${id}): ${error.stack ?? String(error)}`);
    const message = `Internal error. Search the log for ${id}.`;
    return context.body(toErrorBody({ code: "INTERNAL", message }), 500, json);
  });
  const listener = getRequestListener(
    (request, env) => {
      const { incoming, outgoing } = env as HttpEnv["Bindings"];
      const facts = factsOf.get(incoming);
      const leaveRequests = (): void => {
        facts?.limiter?.leave();
        if (facts !== undefined) facts.limiter = undefined;
      };
      return hono.fetch(request, { incoming, outgoing, caller: facts?.caller ?? door.anonymous, leaveRequests });
    },
    {
      errorHandler: () =>
        new Response(toErrorBody({ code: "INVALID_REQUEST", message: "Bad Request." }), { status: 400, headers: json }),
    },
  );
  return async (request, response, facts) => {
    factsOf.set(request, facts);
    await listener(request, response);
  };
}

/** Answers what no route matches. */
function refuseOtherMethods({ routes: known }: Hono<HttpEnv>): Hono<HttpEnv> {
  const methods = new Map<string, Set<string>>();
  for (const { path, method } of known) {
    const allowed = methods.get(path) ?? new Set();
    methods.set(path, allowed.add(method));
    if (method === "GET") allowed.add("HEAD");
  }
  const hono = new Hono<HttpEnv>();
  for (const [path, allowed] of methods) {
    const allow = [...allowed].sort().join(", ");
    const message = `Method not allowed; use ${allow}.`;
    hono.all(path, (context) =>
      toRefusalResponse(context, { status: 405, code: "INVALID_REQUEST", message, headers: { allow } }),
    );
  }
  hono.notFound((context) => toRefusalResponse(context, nothingHere));
  return hono;
}
