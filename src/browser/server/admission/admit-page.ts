import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Clock } from "../../../base/clock.ts";
import { ambiguousPath, checkHostAndOrigin, isToken, newToken, toTokenDigest } from "../../../wire/http.ts";
import type { BrowseRefusal } from "../browse-context.ts";

/** The path of the document that the user opens by its URL. */
export const pagePath = "/";

/**
 * Why a request is refused whoever sends it: it is for another host (DNS rebinding), or another site makes the browser send it.
 * `host`: the host of this server, with its port.
 */
export function faultOfRequest(
  request: IncomingMessage,
  path: string | undefined,
  host: string,
): BrowseRefusal | undefined {
  const refusal = checkHostAndOrigin(request, { hosts: [host] });
  if (refusal !== undefined) return { ...refusal, message: `${refusal.message} Open http://${host}/.` };
  const { method = "", headers } = request;
  const isReading = method === "GET" || method === "HEAD";
  if (headers.origin === undefined && !isReading)
    return forbidden("Origin not allowed: only the page itself may send this request.");
  const site = headers["sec-fetch-site"];
  // The document has no secrets, so it may be opened by its URL or by a link in a file on this machine.
  const isNavigation =
    isReading &&
    path === pagePath &&
    (site === "none" || site === "cross-site") &&
    headers["sec-fetch-mode"] === "navigate" &&
    headers["sec-fetch-dest"] === "document";
  if (site !== "same-origin" && !isNavigation)
    return forbidden(
      site === undefined
        ? "Sec-Fetch-Site is missing: open the page in a current browser."
        : "Sec-Fetch-Site not allowed: open the address that acp-skills browse printed.",
    );
  return path === undefined ? ambiguousPath : undefined;
}

export function forbidden(message: string, hint?: string): BrowseRefusal {
  return { status: 403, code: "PERMISSION_DENIED", message, hint };
}

/** The browsers that may use the page: each exchanged a code for a cookie and a key. Only digests are stored. */
export interface SignedInPages {
  /** Makes a code that can be exchanged once, within five minutes. Earlier codes become invalid. */
  readonly newCode: () => string;
  /** Returns the value of `Set-Cookie` and the key; undefined if the code is invalid, `limited` after too many wrong codes. */
  readonly exchange: (code: string) => { readonly cookie: string; readonly key: string } | "limited" | undefined;
  /** Whether a `Cookie` header has the cookie of the session with this key. */
  readonly isOpenedBy: (cookies: string | undefined, key: string) => boolean;
}

const codeValidMs = 5 * 60 * 1_000;
/** The maximum number of sessions; the oldest one is removed. */
const maxSessions = 16;
/** The maximum number of wrong codes per minute. */
const maxAttempts = 20;
const attemptsMs = 60_000;
const maxCookiesOfName = 8;

/** Opens the sessions. The cookie's name has the `port`, because two servers on one host share cookies. */
export function createSignedInPages(port: number, clock: Pick<Clock, "now">): SignedInPages {
  const name = `acp-skills-${port}`;
  let code: { readonly digest: Buffer; readonly until: number } | undefined;
  const sessions: Buffer[] = [];
  let attempts = { since: -Infinity, count: 0 };

  function isLimited(): boolean {
    if (clock.now() - attempts.since >= attemptsMs) attempts = { since: clock.now(), count: 0 };
    return attempts.count >= maxAttempts;
  }

  return {
    newCode() {
      const fresh = newToken();
      code = { digest: toTokenDigest(fresh), until: clock.now() + codeValidMs };
      return fresh;
    },
    exchange(given) {
      // Too many wrong codes of others never lock the right code out.
      if (code === undefined || clock.now() >= code.until || !isToken(given, code.digest)) {
        if (isLimited()) return "limited";
        attempts.count += 1;
        return undefined;
      }
      code = undefined;
      const [value, key] = [newToken(), newToken()];
      sessions.push(digestOf(value, key));
      if (sessions.length > maxSessions) sessions.shift();
      return { cookie: `${name}=${value}; HttpOnly; SameSite=Strict; Path=/`, key };
    },
    isOpenedBy(cookies = "", key) {
      const values = cookies
        .split(";")
        .map((cookie) => cookie.trim())
        .filter((cookie) => cookie.startsWith(`${name}=`))
        .map((cookie) => digestOf(cookie.slice(name.length + 1), key));
      // Every pair is compared, so that the time reveals nothing.
      let isFound = false;
      for (const value of values.slice(0, maxCookiesOfName))
        for (const known of sessions) isFound = timingSafeEqual(value, known) || isFound;
      return isFound;
    },
  };
}

function digestOf(cookie: string, key: string): Buffer {
  return toTokenDigest(JSON.stringify([cookie, key]));
}
