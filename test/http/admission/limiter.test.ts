import { expect, test } from "vitest";
import { openAddressLimiters, openLimiter } from "../../../src/http/admission/limiter.ts";

test("a minute's requests may come at once; then one for each part of a minute", () => {
  let now = 0;
  const limiter = openLimiter({ requestsPerMinute: 60, concurrentRequests: 1_000 }, () => now);
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
  const limiter = openLimiter({ requestsPerMinute: 2, concurrentRequests: 10 }, () => now);
  limiter.enter();
  limiter.enter();
  expect(limiter.enter()?.headers).toEqual({ "retry-after": "30" });
  now = 29_999;
  expect(limiter.enter()?.headers).toEqual({ "retry-after": "1" });
});

test("only so many requests run at a time", () => {
  const limiter = openLimiter({ requestsPerMinute: 1_000, concurrentRequests: 2 }, () => 0);
  expect(limiter.enter()).toBeUndefined();
  expect(limiter.enter()).toBeUndefined();
  expect(limiter.enter()).toMatchObject({ status: 429, message: "The limit of 2 requests at a time is reached." });
  limiter.leave();
  expect(limiter.enter()).toBeUndefined();
});

test("addresses have limits of their own; those of one IPv6 site share one", () => {
  const limiters = openAddressLimiters({ requestsPerMinute: 1, concurrentRequests: 10 }, () => 0);
  expect(limiters("192.0.2.1").enter()).toBeUndefined();
  expect(limiters("192.0.2.1").enter()?.status).toBe(429);
  expect(limiters("192.0.2.2").enter()).toBeUndefined();
  expect(limiters("::ffff:192.0.2.3").enter()).toBeUndefined();
  expect(limiters("::ffff:192.0.2.4").enter()).toBeUndefined();
  expect(limiters("2001:db8:1:2::1").enter()).toBeUndefined();
  expect(limiters("2001:db8:1:2:3::9").enter()?.status).toBe(429);
  expect(limiters("2001:db8:1:3::1").enter()).toBeUndefined();
});
