import { expect, test } from "vitest";
import { openToldOnce } from "../../src/base/told-once.ts";

test("a message is told once, and after the limit nothing is", () => {
  const lines: string[] = [];
  const { tellOnce, isNew } = openToldOnce((level, message) => lines.push(`${level} ${message}`), { limit: 2 });
  for (const message of ["a", "a", "b", "c"]) tellOnce("warning", message);
  expect(lines).toEqual(["warning a", "warning b"]);
  expect(isNew("d")).toBe(false);
});

test("what is told under a key is told once for that key, whatever it says", () => {
  const lines: string[] = [];
  const { tellOnce } = openToldOnce((level, message) => lines.push(`${level} ${message}`));
  tellOnce("error", "a at 1", "a");
  tellOnce("error", "a at 2", "a");
  expect(lines).toEqual(["error a at 1"]);
});
