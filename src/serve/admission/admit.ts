import type { IncomingMessage } from "node:http";
import { ambiguousPath, checkHostAndOrigin, type HttpRefusal, unauthorized } from "../../wire/http.ts";
import type { Callers } from "./callers.ts";
import { type Limiter, unlimited } from "./limiter.ts";
import type { HttpCaller } from "../serve-context.ts";
import { isArtifactPath } from "../publish/artifacts.ts";
import { healthPaths } from "../telemetry.ts";

export interface Admitted {
  readonly caller: HttpCaller;
  /** The limiter whose `leave` has to be called when the request has ended. */
  readonly limiter: Limiter;
}

export interface AdmissionRules {
  readonly callers: Callers;
  readonly anonymousLimiter: (address: string | undefined) => Limiter;
  /** The permitted values of Host, in lower case, with ports. */
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
}

/**
 * Returns the caller of a request and its limiter, or why the request is refused. Checks Host, Origin, the form of the target, credentials
 * and limits, in this order. `path` is the result of `pathOf`.
 */
export function admit(
  request: IncomingMessage,
  path: string | undefined,
  rules: AdmissionRules,
): Admitted | HttpRefusal {
  const { authorization } = request.headers;
  // Probes may send any Host or credentials: they address a machine, and have no credentials.
  const isOpen = path !== undefined && healthPaths.includes(path);
  const refusal = checkHostAndOrigin(request, rules);
  if (refusal !== undefined && !isOpen) {
    const hint =
      'Use the address that the server printed; behind a proxy, "url" in the file of --config names another.';
    return { ...refusal, message: `${refusal.message} ${hint}` };
  }
  if (path === undefined) return ambiguousPath;
  const limiterOf = (): Limiter => rules.anonymousLimiter(request.socket.remoteAddress);
  const found =
    authorization === undefined || isOpen
      ? { caller: rules.callers.anonymous, limiter: limiterOf() }
      : rules.callers.recognise(authorization, request.socket);
  if (found === undefined) {
    // Guessed tokens count against the address.
    const limiter = limiterOf();
    const limited = limiter.enter();
    if (limited === undefined) limiter.leave();
    const message =
      "The bearer token is not valid here; use a caller's token, or send no Authorization header to see what is public.";
    return limited ?? unauthorized(message);
  }
  // Artifacts never change, and clients request all of an index at once.
  if (isOpen || isArtifactPath(path)) return { caller: found.caller, limiter: unlimited };
  return found.limiter.enter() ?? found;
}
