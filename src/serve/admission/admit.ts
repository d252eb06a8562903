import type { IncomingMessage } from "node:http";
import { checkHostAndOrigin } from "../../wire/http/host-and-origin.ts";
import { type HttpRefusal, unauthorized } from "../../wire/http/refusal.ts";
import type { Callers } from "./callers.ts";
import { type Limiter, unlimited } from "./limiter.ts";
import type { HttpCaller } from "../http-door.ts";

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
  /** Paths for everybody, whatever Host or credentials they send: probes address a machine, and have none. */
  readonly isOpen: (path: string) => boolean;
  /** Requests to these paths are not counted: what is there never changes, and clients ask for all of it at once. */
  readonly isUnlimited: (path: string) => boolean;
}

/** Who sends a request, or why it is refused (CONTRACT C-2.2): Host, Origin, the target's form, credentials, limits; in this order.
 * `path` is that of `pathOf`. */
export function admit(
  request: IncomingMessage,
  path: string | undefined,
  rules: AdmissionRules,
): Admitted | HttpRefusal {
  const { host, origin, authorization } = request.headers;
  const isOpen = path !== undefined && rules.isOpen(path);
  const refusal = checkHostAndOrigin({ host: isRepeated(request) ? undefined : host, origin }, rules);
  if (refusal !== undefined && !isOpen) {
    const hint =
      'Use the address that the server printed; behind a proxy, "url" in the file of --config names another.';
    return { ...refusal, message: `${refusal.message} ${hint}` };
  }
  if (path === undefined)
    return { status: 400, code: "INVALID_REQUEST", message: "Write the path without . or .. segments, or //." };
  let found: Admitted;
  if (authorization === undefined || isOpen) {
    found = { caller: rules.callers.anonymous, limiter: rules.anonymousLimiter(request.socket.remoteAddress) };
  } else {
    const known = rules.callers.recognise(authorization, request.socket);
    if (known === undefined) {
      // Guesses count against the address.
      const limiter = rules.anonymousLimiter(request.socket.remoteAddress);
      const limited = limiter.enter();
      if (limited === undefined) limiter.leave();
      return (
        limited ??
        unauthorized(
          "The bearer token is not valid here; use a caller's token, or send no Authorization header to see what is public.",
        )
      );
    }
    found = known;
  }
  if (isOpen || rules.isUnlimited(path)) return { caller: found.caller, limiter: unlimited };
  return found.limiter.enter() ?? found;
}

/** Whether there are two Host lines: of them, others may take the other one. */
function isRepeated({ rawHeaders }: IncomingMessage): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") count++;
  }
  return count > 1;
}

/**
 * The path of a request target; undefined if it has another form, or if it could be read as another path than it seems: with `.` or `..`
 * segments, encoded or not, empty segments, backslashes, or a fragment.
 */
export function pathOf(target: string): string | undefined {
  if (!target.startsWith("/")) return undefined;
  const end = target.indexOf("?");
  const path = end < 0 ? target : target.slice(0, end);
  return odd.test(path) ? undefined : path;
}

const odd = /\/\/|\\|#|(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)|%(?:2f|5c|00)/i;
