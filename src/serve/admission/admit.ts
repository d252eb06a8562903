import type { IncomingMessage } from "node:http";
import { ambiguousPath, checkHostAndOrigin, type HttpRefusal, unauthorized } from "../../wire/http.ts";
import type { Callers } from "./callers.ts";
import { type Limiter, unlimited } from "./limiter.ts";
import type { HttpCaller } from "../serve-context.ts";
import { isArtifactPath } from "../publish/artifacts.ts";
import { healthPaths } from "../telemetry.ts";

export interface Admitted {
  readonly caller: HttpCaller;
  /** Its `leave` has to be called when the request has ended. */
  readonly limiter: Limiter;
}

export interface AdmissionRules {
  readonly callers: Callers;
  readonly anonymousLimiter: (address: string | undefined) => Limiter;
  /** Host and port, in lower case. */
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
}

/**
 * Who sends a request, or why it is refused: checks Host, Origin, the form of the target, credentials and limits, in this order. `path` is
 * that of `pathOf`.
 */
export function admit(
  request: IncomingMessage,
  path: string | undefined,
  rules: AdmissionRules,
): Admitted | HttpRefusal {
  const { authorization } = request.headers;
  // Whatever Host or credentials are sent: probes address a machine, and have none.
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
    // Guesses count against the address.
    const limiter = limiterOf();
    const limited = limiter.enter();
    if (limited === undefined) limiter.leave();
    const message =
      "The bearer token is not valid here; use a caller's token, or send no Authorization header to see what is public.";
    return limited ?? unauthorized(message);
  }
  // What is in an artifact never changes, and clients ask for all of them at once.
  if (isOpen || isArtifactPath(path)) return { caller: found.caller, limiter: unlimited };
  return found.limiter.enter() ?? found;
}
