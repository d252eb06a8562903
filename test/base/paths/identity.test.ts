import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { directoryIdentityOf, isSameDirectory, pinDirectory } from "../../../src/base/paths/identity.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "directory-identity-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

test("a directory that is removed and created again has another identity while the first is pinned", () => {
  const place = path.join(directory, "place");
  mkdirSync(place);
  const pinned = pinDirectory(place);
  expect(isSameDirectory(pinned.identity, directoryIdentityOf(place))).toBe(true);
  rmSync(place, { recursive: true });
  mkdirSync(place);
  expect(isSameDirectory(pinned.identity, directoryIdentityOf(place))).toBe(false);
  pinned.release();
  pinned.release();
});

test("a missing directory or a file has no identity and equals nothing", () => {
  writeFileSync(path.join(directory, "file"), "");
  for (const name of ["file", "absent"]) {
    const pinned = pinDirectory(path.join(directory, name));
    expect(pinned.identity).toBeUndefined();
    expect(isSameDirectory(pinned.identity, pinned.identity)).toBe(false);
    pinned.release();
  }
});
