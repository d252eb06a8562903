import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { isWithin, liesIn, packageUrl } from "../../../src/base/paths/location.ts";

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

test("finds the files of this package below src or dist, and beside the bundle of another program", () => {
  const source = new URL("../../../src/", import.meta.url);
  expect(packageUrl("cli/main.js").href).toBe(new URL("cli/main.js", source).href);
  const from = (url: string | undefined): string => packageUrl("cli/main.js", { url }).href;
  expect(from("file:///modules/acp-skills/dist/base/paths/location.js")).toBe(
    "file:///modules/acp-skills/dist/cli/main.js",
  );
  expect(from("file:///app/out/agent.mjs")).toBe("file:///app/out/cli/main.js");
  expect(from(undefined)).toBe(new URL("cli/main.js", pathToFileURL(process.argv[1] ?? "")).href);
});
