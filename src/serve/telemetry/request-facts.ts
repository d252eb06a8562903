import type { IncomingMessage, ServerResponse } from "node:http";
import { randomBytes } from "node:crypto";
import type { Limiter } from "../admission/limiter.ts";
import type { HttpLog } from "../telemetry.ts";
import type { Metrics } from "./metrics.ts";
import type { HttpCaller } from "../http-door.ts";

/** What is known of a request while it is answered. */
export interface RequestFacts {
  /** The template of its path; undefined until a route was found. */
  route: string | undefined;
  /** Anonymous until it was admitted. */
  caller: HttpCaller;
  /** Of an admitted request. */
  limiter: Limiter | undefined;
}

/** Follows a request: counts it, and tells the log, when its response has ended or its client has left. */
export function createRequestFacts({
  metrics,
  anonymous,
  requestEnded,
  ended,
}: {
  readonly metrics: Pick<Metrics, "requestStarted" | "requestEnded">;
  readonly anonymous: HttpCaller;
  readonly requestEnded: HttpLog["requestEnded"] | undefined;
  /** Called when the response has ended or its client has left. */
  readonly ended: (response: ServerResponse, facts: RequestFacts) => void;
}): (request: IncomingMessage, response: ServerResponse) => RequestFacts {
  const newRequestId = createRequestIds();
  return (request, response) => {
    const { method = "", url: target = "", headers } = request;
    const requestId = newRequestId(headers["x-request-id"], headers.authorization);
    const facts: RequestFacts = { route: undefined, caller: anonymous, limiter: undefined };
    const startedAt = performance.now();
    metrics.requestStarted(method);
    response.once("close", () => {
      ended(response, facts);
      const ms = performance.now() - startedAt;
      const { route, caller } = facts;
      const { statusCode: status } = response;
      metrics.requestEnded(route, method, status, ms);
      requestEnded?.({ requestId, method, target, status, ms, caller: caller.name, isStream: route === "/events" });
    });
    return facts;
  };
}

/**
 * Ids by which a request is found in the log: that of the client, if it sends a usable one that is not its token, else one of ours,
 * unique in this process and unlikely to be given by another.
 */
export function createRequestIds(
  start = randomBytes(6).toString("hex"),
): (given: string | readonly string[] | undefined, authorization: string | undefined) => string {
  let count = 0;
  return (given, authorization) => {
    if (typeof given === "string" && usable.test(given) && authorization?.includes(given) !== true) return given;
    count += 1;
    return `${start}-${count}`;
  };
}

const usable = /^[\w-]{1,64}$/;
