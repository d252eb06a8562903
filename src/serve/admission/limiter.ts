import type { ServerResponse } from "node:http";
import { LimitedMap } from "../../base/limited-map.ts";
import type { HttpRefusal } from "../../wire/http.ts";
import type { CallerLimits } from "../config.ts";
import type { HttpCaller } from "../serve-context.ts";
import { networkOf } from "../../base/network/address.ts";

/** The present use of one caller or address. */
export interface Limiter {
  /** Admits a request, which counts until `leave`, or returns why it is refused. */
  enter(): HttpRefusal | undefined;
  leave(): void;
  /** Counts further calls of a batch whose request was admitted, or returns why they are refused. */
  take(calls: number): HttpRefusal | undefined;
}

/** The limiter of requests that are not counted. */
export const unlimited: Limiter = { enter: () => undefined, leave: () => undefined, take: () => undefined };

/** Creates a token bucket: `requestsPerMinute` at once, refilled evenly. `now` returns milliseconds. */
export function createLimiter({ requestsPerMinute, concurrentRequests }: CallerLimits, now: () => number): Limiter {
  const perMs = requestsPerMinute / 60_000;
  let left = requestsPerMinute;
  let filledAt = now();
  let running = 0;

  /** Returns why fewer than `count` requests are left; undefined if enough are left. */
  function refusalOf(count: number): HttpRefusal | undefined {
    const at = now();
    left = Math.min(requestsPerMinute, left + (at - filledAt) * perMs);
    filledAt = at;
    if (left >= count) return undefined;
    const seconds = Math.max(1, Math.ceil((count - left) / perMs / 1_000));
    const what = count === 1 ? "requests" : "requests, each call of a batch counted,";
    return tooMany(
      `The limit of ${requestsPerMinute} ${what} per minute is reached; try again in ${seconds} s.`,
      seconds,
    );
  }

  return {
    enter() {
      const refusal = refusalOf(1);
      if (refusal !== undefined) return refusal;
      if (running >= concurrentRequests)
        return tooMany(`The limit of ${concurrentRequests} requests at a time is reached.`, 1);
      left -= 1;
      running += 1;
      return undefined;
    },
    leave() {
      running -= 1;
    },
    take(calls) {
      const refusal = calls === 0 ? undefined : refusalOf(calls);
      if (refusal === undefined) left -= calls;
      return refusal;
    },
  };
}

/** Returns the refusal of a request that may be repeated after `seconds`. */
export function tooMany(message: string, seconds: number, status: 429 | 503 = 429): HttpRefusal {
  return { status, code: "RATE_LIMITED", message, headers: { "retry-after": String(seconds) } };
}

/** The maximum number of addresses that are remembered. Beyond it, the oldest address is forgotten. */
const maxAddresses = 10_000;

/** Creates a limiter for each address of anonymous callers; in IPv6 for each site, because a host may use all addresses of its site. */
export function createAddressLimiters(
  limits: CallerLimits,
  now: () => number,
): (address: string | undefined) => Limiter {
  const limiters = new LimitedMap<string, Limiter>(maxAddresses);
  return (address = "") => {
    const key = networkOf(address);
    let limiter = limiters.get(key);
    if (limiter === undefined) limiters.set(key, (limiter = createLimiter(limits, now)));
    return limiter;
  };
}

/** The bodies of answers that clients have not read yet. */
export interface UnreadBytes {
  /** Counts the body of an answer until the response is closed, or returns why the answer is refused. */
  hold(
    body: Uint8Array,
    response: ServerResponse,
    caller: Pick<HttpCaller, "name" | "isAnonymous">,
  ): HttpRefusal | undefined;
}

/**
 * Limits unread bytes. All readers without a token have at most `maxBytes` bytes, and a body that several answers share counts once. One
 * address or caller has at most half of that, and each answer counts. The half does not limit a reader with nothing unread.
 */
export function openUnreadBytes(maxBytes: number): UnreadBytes {
  const answers = new Map<Uint8Array, number>();
  const byReader = new Map<string, number>();
  let total = 0;

  function count(body: Uint8Array, reader: string, change: 1 | -1): void {
    const [before = 0, size] = [answers.get(body), change * body.byteLength];
    if (before + change === 0) answers.delete(body);
    else answers.set(body, before + change);
    if (before === 0 || before + change === 0) total += size;
    const left = (byReader.get(reader) ?? 0) + size;
    if (left === 0) byReader.delete(reader);
    else byReader.set(reader, left);
  }

  return {
    hold(body, response, { name, isAnonymous }) {
      const reader = isAnonymous ? networkOf(response.socket?.remoteAddress ?? "") : `caller ${name}`;
      const own = byReader.get(reader) ?? 0;
      if (own > 0 && own + body.byteLength > maxBytes / 2)
        return tooMany("Read the answers to earlier requests first: too many bytes of them are unread.", 1);
      if (isAnonymous && !answers.has(body) && total > 0 && total + body.byteLength > maxBytes) {
        const message = "The server holds too many bytes that its clients have not read; try again in a minute.";
        return { status: 503, code: "RUNTIME_BUSY", message, headers: { "retry-after": "60", connection: "close" } };
      }
      if (response.destroyed) return undefined;
      count(body, reader, 1);
      response.once("close", () => count(body, reader, -1));
      return undefined;
    },
  };
}
