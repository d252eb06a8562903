import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { installedFrom } from "../../src/skills/files.ts";

function project(file: string, lock: unknown): string {
  const base = mkdtempSync(path.join(tmpdir(), "installed-from-"));
  mkdirSync(path.join(base, ".agents/skills/pdf-tools"), { recursive: true });
  writeFileSync(path.join(base, file), typeof lock === "string" ? lock : JSON.stringify(lock));
  return base;
}

test.each([
  ["a URL", { source: "x.org", sourceType: "well-known", sourceUrl: "https://x.org/skills/" }, ["https://x.org/skills/", "https://x.org"]], // prettier-ignore
  ["a repository of GitHub", { source: "acme/skills", sourceType: "github" }, ["https://github.com/acme/skills"]],
  ["a git URL", { source: "ssh://git@x.org/a.git", sourceType: "git" }, ["ssh://git@x.org/a.git"]],
  ["a directory", { source: "./here", sourceType: "local" }, []],
  ["what is no entry", 7, []],
])("says that a skill is from %s, as the lock has it", (_, entry, urls) => {
  for (const file of ["skills-lock.json", ".agents/.skill-lock.json"]) {
    const base = project(file, { version: 1, skills: { "PDF Tools": entry } });
    try {
      expect(installedFrom({ directory: path.join(base, ".agents/skills/pdf-tools") }, "/home/ada")).toEqual(urls);
      expect(installedFrom({ directory: path.join(base, ".agents/skills/other") }, "/home/ada")).toEqual([]);
      expect(installedFrom({ directory: path.join(base, "pdf-tools") }, "/home/ada")).toEqual([]);
    } finally {
      rmSync(base, { recursive: true });
    }
  }
});

test.skipIf(process.platform === "win32")("neither a pipe nor a device in the place of a lock keeps it", () => {
  const base = project("other.json", {});
  const directory = path.join(base, ".agents/skills/pdf-tools");
  const lock = path.join(base, "skills-lock.json");
  execFileSync("mkfifo", [lock]);
  expect(installedFrom({ directory }, "/home/ada")).toEqual([]);
  rmSync(lock);
  symlinkSync("/dev/zero", lock);
  expect(installedFrom({ directory }, "/home/ada")).toEqual([]);
  rmSync(base, { recursive: true });
});

test("a lock that changes is read again, and one that is damaged says nothing", () => {
  const base = project("skills-lock.json", { skills: { "pdf-tools": { source: "https://x.org" } } });
  const directory = path.join(base, ".agents/skills/pdf-tools");
  expect(installedFrom({ directory }, "/home/ada")).toEqual(["https://x.org"]);
  writeFileSync(path.join(base, "skills-lock.json"), "{");
  utimesSync(path.join(base, "skills-lock.json"), 5, 5);
  expect(installedFrom({ directory }, "/home/ada")).toEqual([]);
  rmSync(base, { recursive: true });
});
