import { type AccessPolicy, accessPolicies } from "../../wire/skill-sharing.ts";
import { unauthorized } from "../../wire/http.ts";
import type { RouteResult, CreateRoutes, HttpExchange } from "../serve-context.ts";
import { metricsContentType } from "../../wire/metric.ts";

/**
 * - `GET /healthz`: the process lives.
 * - `GET /readyz`: the skills were read and the server is not stopping, else 503 with the reason. Neither path reveals what is served.
 * - `GET /metrics`: for callers with a token; for all if only this machine can send requests.
 */
export const monitoringRoutes: CreateRoutes = ({ app, session, draining, metrics, isLocal, publication }) => {
  let isRead = false;
  void session.catalog.ready.then(() => {
    isRead = true;
  });

  function answerReady(exchange: HttpExchange): RouteResult {
    if (isRead && !draining.aborted) return exchange.sendJson(200, { status: "ok" });
    const reason = draining.aborted ? "The server is stopping." : "The skills are still being read.";
    return exchange.sendJson(503, { status: "not ready", reason });
  }

  async function answerMetrics(exchange: HttpExchange): Promise<RouteResult> {
    if (exchange.caller.isAnonymous && !isLocal) return unauthorized("The metrics need a bearer token.");
    const skills = Object.fromEntries(accessPolicies.map((access) => [access, 0])) as Record<AccessPolicy, number>;
    for (const { access } of publication().skills) skills[access] += 1;
    const headers = { "content-type": metricsContentType, "cache-control": "no-store" };
    const shared = (await app.sharedMetrics?.()) ?? "";
    return exchange.send(200, metrics.render({ skills }) + shared, headers);
  }

  const isIndependent = true;
  return [
    { method: "GET", path: "/healthz", isIndependent, answer: (exchange) => exchange.sendJson(200, { status: "ok" }) },
    { method: "GET", path: "/readyz", isIndependent, answer: answerReady },
    { method: "GET", path: "/metrics", isIndependent, answer: answerMetrics },
  ];
};
