import { hash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { digestOfPackages } from "../../../../src/runtime/sandbox/requirements/package-cache.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "acp-skills-packages-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

function install(name: string, record: string): void {
  mkdirSync(path.join(directory, `${name}.dist-info`), { recursive: true });
  writeFileSync(path.join(directory, `${name}.dist-info`, "RECORD"), record);
}

test("the digest of packages changes with any of their files, and with their versions", async () => {
  install("first-1.0", "first/__init__.py,sha256=abc,3\n");
  const first = await digestOfPackages(directory);
  expect(first).toMatch(/^sha256:[0-9a-f]{64}$/);
  mkdirSync(path.join(directory, "first"));
  expect(await digestOfPackages(directory)).toBe(first);
  install("second-2.0", "second.py,sha256=def,4\n");
  const both = await digestOfPackages(directory);
  install("second-2.0", "second.py,sha256=000,4\n");
  const changed = await digestOfPackages(directory);
  expect(new Set([first, both, changed]).size).toBe(3);
  rmSync(path.join(directory, "second-2.0.dist-info"), { recursive: true });
  expect(await digestOfPackages(directory)).toBe(first);
});

test("a package without a list of files counts by its name and version", async () => {
  const none = await digestOfPackages(directory);
  mkdirSync(path.join(directory, "third-3.0.dist-info"));
  expect(await digestOfPackages(directory)).not.toBe(none);
});

test.runIf(process.platform !== "win32")("a name cannot stand for two packages", async () => {
  install("first-1.0", "a");
  install("second-2.0", "b");
  const both = await digestOfPackages(directory);
  for (const name of ["first-1.0", "second-2.0"])
    rmSync(path.join(directory, `${name}.dist-info`), { recursive: true });
  install(`first-1.0.dist-info\n${hash("sha256", "b")}  second-2.0`, "a");
  expect(await digestOfPackages(directory)).not.toBe(both);
});
