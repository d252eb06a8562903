import { expect, test } from "vitest";
import { isBelow } from "../../src/sandbox/is-below.ts";

test("A path is below a directory by whole segments", () => {
  expect(isBelow("/usr/lib", "/usr")).toBe(true);
  expect(isBelow("/usr", "/usr")).toBe(true);
  expect(isBelow("/usr-local", "/usr")).toBe(false);
  expect(isBelow("/anything", "/")).toBe(true);
});
