import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeDirectories } from "../../../src/base/paths/make-directories.ts";

describe("makeDirectories", () => {
  let place: string;
  beforeEach(() => {
    place = mkdtempSync(path.join(tmpdir(), "acp-skills-test-"));
  });
  afterEach(() => {
    rmSync(place, { recursive: true, force: true });
  });

  test("makes what is missing, and takes what is there", () => {
    const deep = path.join(place, "a", "b", "c");
    makeDirectories(deep, 0o700);
    makeDirectories(deep, 0o700);
    makeDirectories(path.join(place, "a", "d"), 0o700);
    expect(statSync(deep).isDirectory()).toBe(true);
    expect(statSync(path.join(place, "a", "d")).mode & 0o777).toBe(0o700);
  });

  test("follows a link to a directory, and says no at one that leads nowhere", () => {
    mkdirSync(path.join(place, "there"));
    symlinkSync(path.join(place, "there"), path.join(place, "link"));
    symlinkSync(path.join(place, "gone"), path.join(place, "dangling"));
    makeDirectories(path.join(place, "link", "a"), 0o700);
    expect(statSync(path.join(place, "there", "a")).isDirectory()).toBe(true);
    expect(() => {
      makeDirectories(path.join(place, "dangling", "a"), 0o700);
    }).toThrow("EEXIST");
  });

  test("says no where a file is in the way", () => {
    writeFileSync(path.join(place, "file"), "");
    expect(() => {
      makeDirectories(path.join(place, "file"), 0o700);
    }).toThrow("EEXIST");
    expect(() => {
      makeDirectories(path.join(place, "file", "a"), 0o700);
    }).toThrow("ENOTDIR");
  });

  test.runIf(process.platform === "linux")(
    "ends where a file system lets nothing be made and says ENOENT to it",
    () => {
      expect(() => {
        makeDirectories("/proc/acp-skills-test/a/b", 0o700);
      }).toThrow("ENOENT");
    },
  );
});
