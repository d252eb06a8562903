import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { pathToFileURL } from "node:url";
import { isWithin, liesIn, urlOf } from "../../../src/base/paths/location.ts";

test("isWithin compares whole path segments", () => {
  expect(isWithin("/usr/lib", "/usr")).toBe(true);
  expect(isWithin("/usr", "/usr")).toBe(true);
  expect(isWithin("/usr-local", "/usr")).toBe(false);
  expect(isWithin("/anything", "/")).toBe(true);
});

describe("liesIn", () => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "acp-skills-below-")));
  mkdirSync(join(directory, "there"));
  symlinkSync(join(directory, "there"), join(directory, "link"), "junction");
  afterAll(() => {
    rmSync(directory, { recursive: true });
  });

  test.each([
    ["there/inside", "there", true],
    ["there", "link", true],
    ["link/not/there/yet", "there", true],
    ["there/yet", "link/yet", true],
    ["there", "there/yet", false],
    ["there-after", "there", false],
  ])("%s in %s: %s", (path, place, isIn) => {
    expect(liesIn(join(directory, path), join(directory, place))).toBe(isIn);
  });
});

test("returns import.meta.url, or the URL of the main program in a bundle without it", () => {
  expect(urlOf(import.meta)).toBe(import.meta.url);
  expect(urlOf({})).toBe(pathToFileURL(process.argv[1] ?? "").href);
});
