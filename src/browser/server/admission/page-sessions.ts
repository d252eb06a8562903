import { timingSafeEqual } from "node:crypto";
import type { Clock } from "../../../base/clock.ts";
import { isToken, newToken, toTokenDigest } from "../../../wire/http.ts";

/** Who may use the page: those who were given a code, and for it a cookie and a key. Only digests are stored. */
export interface PageSessions {
  /** A code that can be exchanged once, within five minutes; earlier ones are no longer valid. */
  readonly newCode: () => string;
  /** The value of `Set-Cookie`, and the key; undefined if the code is not valid, `limited` after too many wrong ones. */
  readonly exchange: (code: string) => { readonly cookie: string; readonly key: string } | "limited" | undefined;
  /** Whether a `Cookie` header has the cookie of the session with this key. */
  readonly isOpenedBy: (cookies: string | undefined, key: string) => boolean;
}

const codeValidMs = 5 * 60 * 1_000;
/** Browsers that are signed in; the one that was first leaves. */
const mostSessions = 16;
/** Wrong codes in a minute. */
const mostAttempts = 20;
const attemptsMs = 60_000;
const maxCookiesOfName = 8;

/** `port`: pages of two servers on one host share its cookies. */
export function createPageSessions(port: number, clock: Pick<Clock, "now">): PageSessions {
  const name = `acp-skills-${port}`;
  let code: { readonly digest: Buffer; readonly until: number } | undefined;
  const sessions: Buffer[] = [];
  let attempts = { since: -Infinity, count: 0 };

  function isLimited(): boolean {
    if (clock.now() - attempts.since >= attemptsMs) attempts = { since: clock.now(), count: 0 };
    return attempts.count >= mostAttempts;
  }

  return {
    newCode() {
      const fresh = newToken();
      code = { digest: toTokenDigest(fresh), until: clock.now() + codeValidMs };
      return fresh;
    },
    exchange(given) {
      // The right code is never locked out by those of others.
      if (code === undefined || clock.now() >= code.until || !isToken(given, code.digest)) {
        if (isLimited()) return "limited";
        attempts.count += 1;
        return undefined;
      }
      code = undefined;
      const [value, key] = [newToken(), newToken()];
      sessions.push(digestOf(value, key));
      if (sessions.length > mostSessions) sessions.shift();
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
