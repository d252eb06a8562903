import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { createAddressLimiters, createLimiter, openUnreadBytes } from "../../../src/serve/admission/limiter.ts";

test("a minute's requests may come at once; then one for each part of a minute", () => {
  let now = 0;
  const limiter = createLimiter({ requestsPerMinute: 60, concurrentRequests: 1_000 }, () => now);
  for (let count = 0; count < 60; count++) expect(limiter.enter()).toBeUndefined();
  expect(limiter.enter()).toEqual({
    status: 429,
    code: "RATE_LIMITED",
    message: "The limit of 60 requests per minute is reached; try again in 1 s.",
    headers: { "retry-after": "1" },
  });
  now = 999;
  expect(limiter.enter()?.status).toBe(429);
  now = 1_000;
  expect(limiter.enter()).toBeUndefined();
  expect(limiter.enter()?.status).toBe(429);
  now = 3_600_000;
  for (let count = 0; count < 60; count++) expect(limiter.enter()).toBeUndefined();
  expect(limiter.enter()?.status).toBe(429);
});

test("Retry-After is the time until the next request is allowed, in whole seconds, and never 0", () => {
  let now = 0;
  const limiter = createLimiter({ requestsPerMinute: 2, concurrentRequests: 10 }, () => now);
  limiter.enter();
  limiter.enter();
  expect(limiter.enter()?.headers).toEqual({ "retry-after": "30" });
  now = 29_999;
  expect(limiter.enter()?.headers).toEqual({ "retry-after": "1" });
});

test("only so many requests run at a time", () => {
  const limiter = createLimiter({ requestsPerMinute: 1_000, concurrentRequests: 2 }, () => 0);
  expect(limiter.enter()).toBeUndefined();
  expect(limiter.enter()).toBeUndefined();
  expect(limiter.enter()).toMatchObject({ status: 429, message: "The limit of 2 requests at a time is reached." });
  limiter.leave();
  expect(limiter.enter()).toBeUndefined();
});

test("addresses have limits of their own; those of one IPv6 site share one", () => {
  const limiters = createAddressLimiters({ requestsPerMinute: 1, concurrentRequests: 10 }, () => 0);
  expect(limiters("192.0.2.1").enter()).toBeUndefined();
  expect(limiters("192.0.2.1").enter()?.status).toBe(429);
  expect(limiters("192.0.2.2").enter()).toBeUndefined();
  expect(limiters("::ffff:192.0.2.3").enter()).toBeUndefined();
  expect(limiters("::ffff:192.0.2.4").enter()).toBeUndefined();
  expect(limiters("2001:db8:1:2::1").enter()).toBeUndefined();
  expect(limiters("2001:db8:1:2:3::9").enter()?.status).toBe(429);
  expect(limiters("2001:db8:1:3::1").enter()).toBeUndefined();
});

/** What a reader at an address holds until it is closed. */
function reader(remoteAddress: string): ServerResponse {
  return Object.assign(new EventEmitter(), {
    socket: { remoteAddress },
    destroyed: false,
  }) as unknown as ServerResponse;
}

const anonymous = { name: "anonymous", isAnonymous: true };

test("one address has at most half of the unread bytes, each of its answers counted, until their readers are gone", () => {
  const unread = openUnreadBytes(24);
  const body = new Uint8Array(6);
  const first = reader("192.0.2.1");
  expect(unread.hold(body, first, anonymous)).toBeUndefined();
  expect(unread.hold(body, reader("192.0.2.1"), anonymous)).toBeUndefined();
  expect(unread.hold(body, reader("192.0.2.1"), anonymous)).toMatchObject({ status: 429, code: "RATE_LIMITED" });
  first.emit("close");
  expect(unread.hold(body, reader("192.0.2.1"), anonymous)).toBeUndefined();
  expect(unread.hold(new Uint8Array(99), reader("192.0.2.2"), { name: "ci", isAnonymous: false })).toBeUndefined();
});

test("all without a token hold no more different bytes than the limit, and share what they hold", () => {
  const unread = openUnreadBytes(16);
  const [shared, other] = [new Uint8Array(12), new Uint8Array(12)];
  const readers = Array.from({ length: 2_000 }, (_, at) => reader(`10.0.${at >> 8}.${at & 255}`));
  for (const one of readers) expect(unread.hold(shared, one, anonymous)).toBeUndefined();
  expect(unread.hold(other, reader("192.0.2.1"), anonymous)).toMatchObject({ status: 503, code: "RUNTIME_BUSY" });
  expect(unread.hold(other, reader("192.0.2.1"), { name: "ci", isAnonymous: false })).toBeUndefined();
  for (const one of readers) one.emit("close");
  expect(unread.hold(shared, reader("192.0.2.3"), anonymous)).toMatchObject({ status: 503 });
  expect(unread.hold(other, reader("192.0.2.3"), anonymous)).toBeUndefined();
});
