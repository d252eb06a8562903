import { expect, test } from "vitest";
import { requireSuccess, retryAfterSeconds } from "../../../src/sources/fetch/read-answer.ts";

const now = Date.parse("2026-01-01T00:00:00Z");

test.each([
  ["0", 0],
  [" 17 ", 17],
  ["99999999", 86_400],
  ["Thu, 01 Jan 2026 00:01:30 GMT", 90],
  ["Wed, 31 Dec 2025 00:00:00 GMT", 0],
  ["soon", undefined],
  ["", undefined],
])("Retry-After %j is %j seconds", (text, seconds) => {
  expect(retryAfterSeconds({ "retry-after": text }, now)).toBe(seconds);
});

test("errors carry the status and the wait, and name no path", () => {
  const answer = {
    status: 429,
    headers: { "retry-after": "5" },
    body: new Uint8Array(),
    url: "https://a.example/s/t?q=1",
  };
  expect(() => requireSuccess(answer, "the index", now)).toThrow(
    expect.objectContaining({
      code: "RATE_LIMITED",
      message: "a.example answered with status 429 for the index; try again after 5 s.",
      facts: { status: 429, retryAfterSeconds: 5 },
    }),
  );
  expect(requireSuccess({ ...answer, status: 200 }, "the index", now).status).toBe(200);
});
