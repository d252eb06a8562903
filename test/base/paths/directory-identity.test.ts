import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { identityOf, isSameDirectory, pinDirectory } from "../../../src/base/paths/directory-identity.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "directory-identity-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

test("a directory that is made again is another one while the first is pinned", () => {
  const place = path.join(directory, "place");
  mkdirSync(place);
  const pinned = pinDirectory(place);
  expect(isSameDirectory(pinned.identity, identityOf(place))).toBe(true);
  rmSync(place, { recursive: true });
  mkdirSync(place);
  expect(isSameDirectory(pinned.identity, identityOf(place))).toBe(false);
  pinned.release();
  pinned.release();
});

test("what is no directory, or not there, is the same as nothing", () => {
  writeFileSync(path.join(directory, "file"), "");
  for (const name of ["file", "absent"]) {
    const pinned = pinDirectory(path.join(directory, name));
    expect(pinned.identity).toBeUndefined();
    expect(isSameDirectory(pinned.identity, pinned.identity)).toBe(false);
    pinned.release();
  }
});
