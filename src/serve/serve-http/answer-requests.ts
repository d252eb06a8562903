import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { isRefusal } from "../../wire/http/refusal.ts";
import { type AdmissionRules, admit, pathOf } from "../admission/admit.ts";
import { type HttpCaller, type HttpDoor, type HttpRequestListener, refuseRequest } from "../http-door.ts";
import { answerIndex, indexPath } from "../publish.ts";
import { healthPaths } from "../telemetry/health-routes.ts";
import type { RequestFacts } from "../telemetry/request-facts.ts";
import { toLoggedPath } from "../telemetry/without-secrets.ts";

/** Besides what is answered directly: what does not depend on which skills there are. */
const atOnce: readonly string[] = [...healthPaths, "/metrics", "/openapi.json"];

/** What requests are answered with. */
export interface Answering {
  readonly door: Pick<HttpDoor, "app" | "draining" | "listings" | "session">;
  /** By path: what hono does not route. */
  readonly direct: Readonly<Record<string, HttpRequestListener>>;
  readonly answerRoutes: (request: IncomingMessage, response: ServerResponse, facts: RequestFacts) => Promise<void>;
  readonly factsOf: (request: IncomingMessage, response: ServerResponse) => RequestFacts;
  readonly rules: AdmissionRules;
  /** Gets every admitted request's response. */
  readonly running: Map<ServerResponse, HttpCaller>;
}

/** Admits and answers requests; what tells skills waits until they were read. A failure of ours ends the one request, and is logged. */
export function answerRequests({ door, direct, answerRoutes, factsOf, rules, running }: Answering): RequestListener {
  const { app, draining, listings } = door;
  const { ready } = door.session.catalog;
  let isRead = false;
  void ready.then(() => (isRead = true));

  async function answerAdmitted(
    request: IncomingMessage,
    response: ServerResponse,
    { path = "", facts }: { readonly path: string | undefined; readonly facts: RequestFacts },
  ): Promise<void> {
    const { caller, limiter } = facts;
    const answerDirectly = Object.hasOwn(direct, path) ? direct[path] : undefined;
    if (answerDirectly !== undefined) {
      facts.route = path;
      await answerDirectly(request, response, caller, (calls) => limiter?.take(calls));
      return;
    }
    if (!isRead && !atOnce.includes(path)) await ready;
    if (path === indexPath && answerIndex(request, response, { listings, caller })) facts.route = indexPath;
    else await answerRoutes(request, response, facts);
  }

  return function answer(request: IncomingMessage, response: ServerResponse): void {
    const target = request.url ?? "";
    const path = Object.hasOwn(direct, target) ? target : pathOf(target);
    const facts = factsOf(request, response);
    if (draining.aborted) response.setHeader("connection", "close");
    const admitted = admit(request, path, rules);
    if (isRefusal(admitted)) {
      request.resume();
      if (admitted.status === 401)
        app.log("warning", `A token that no caller has was refused: ${request.socket.remoteAddress ?? "a client"}, ${request.method ?? ""} ${toLoggedPath(target)}.`); // prettier-ignore
      if (path !== undefined && Object.hasOwn(direct, path)) facts.route = path;
      refuseRequest(response, path ?? target, admitted);
      return;
    }
    const { caller, limiter } = admitted;
    running.set(response, caller);
    facts.caller = caller;
    facts.limiter = limiter;
    answerAdmitted(request, response, { path, facts }).catch((error: unknown) => {
      if (!response.destroyed) app.log("error", `A request to ${toLoggedPath(target)} failed: ${String(error)}`);
      response.destroy();
    });
  };
}
