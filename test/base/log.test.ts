import { expect, test } from "vitest";
import { createOnceLog } from "../../src/base/log.ts";

test("logs a message once, and logs no new messages beyond the limit", () => {
  const lines: string[] = [];
  const { logOnce, isNew } = createOnceLog((level, message) => lines.push(`${level} ${message}`), { limit: 2 });
  for (const message of ["a", "a", "b", "c"]) logOnce("warning", message);
  expect(lines).toEqual(["warning a", "warning b"]);
  expect(isNew("d")).toBe(false);
});

test("logs once per key, even if the message differs", () => {
  const lines: string[] = [];
  const { logOnce } = createOnceLog((level, message) => lines.push(`${level} ${message}`));
  logOnce("error", "a at 1", "a");
  logOnce("error", "a at 2", "a");
  expect(lines).toEqual(["error a at 1"]);
});
