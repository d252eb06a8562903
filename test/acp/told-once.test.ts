import { expect, test } from "vitest";
import { openToldOnce } from "../../src/acp/told-once.ts";

test("a message is told once, and after the limit nothing is", () => {
  const lines: string[] = [];
  const { tellOnce, isNew } = openToldOnce((level, message) => lines.push(`${level} ${message}`), { limit: 2 });
  for (const message of ["a", "a", "b", "c"]) tellOnce(message);
  expect(lines).toEqual(["warning a", "warning b"]);
  expect(isNew("d")).toBe(false);
});
