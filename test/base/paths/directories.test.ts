import path from "node:path";
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterEach, beforeEach, describe, expect, test, onTestFinished } from "vitest";
import { makeDirectories, namesIn } from "../../../src/base/paths/directories.ts";

describe("makeDirectories", () => {
  let place: string;
  beforeEach(() => {
    place = mkdtempSync(path.join(tmpdir(), "acp-skills-test-"));
  });
  afterEach(() => {
    rmSync(place, { recursive: true, force: true });
  });

  test("creates missing directories and accepts existing ones", () => {
    const deep = path.join(place, "a", "b", "c");
    makeDirectories(deep, 0o700);
    makeDirectories(deep, 0o700);
    makeDirectories(path.join(place, "a", "d"), 0o700);
    expect(statSync(deep).isDirectory()).toBe(true);
    expect(statSync(path.join(place, "a", "d")).mode & 0o777).toBe(0o700);
  });

  test("follows a symlink to a directory and throws EEXIST for a dangling symlink", () => {
    mkdirSync(path.join(place, "there"));
    symlinkSync(path.join(place, "there"), path.join(place, "link"));
    symlinkSync(path.join(place, "gone"), path.join(place, "dangling"));
    makeDirectories(path.join(place, "link", "a"), 0o700);
    expect(statSync(path.join(place, "there", "a")).isDirectory()).toBe(true);
    expect(() => {
      makeDirectories(path.join(place, "dangling", "a"), 0o700);
    }).toThrow("EEXIST");
  });

  test("throws EEXIST or ENOTDIR if a file is in the way", () => {
    writeFileSync(path.join(place, "file"), "");
    expect(() => {
      makeDirectories(path.join(place, "file"), 0o700);
    }).toThrow("EEXIST");
    expect(() => {
      makeDirectories(path.join(place, "file", "a"), 0o700);
    }).toThrow("ENOTDIR");
  });

  test.runIf(process.platform === "linux")(
    "terminates with ENOENT on a file system that does not allow directories to be created",
    () => {
      expect(() => {
        makeDirectories("/proc/acp-skills-test/a/b", 0o700);
      }).toThrow("ENOENT");
    },
  );
});

test("a directory that does not exist has no names, and a file is an error", () => {
  const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-names-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, "one");
  writeFileSync(file, "");
  expect(namesIn(directory)).toEqual(["one"]);
  expect(namesIn(path.join(directory, "two"))).toEqual([]);
  expect(() => namesIn(file)).toThrow("ENOTDIR");
});
