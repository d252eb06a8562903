import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, test } from "vitest";
import { TurnLock } from "../../src/base/processes/turn-lock.ts";
import { createChangeRecord } from "../../src/sources/lock/change-record.ts";
import { changeLock, readLock } from "../../src/sources/lock-file.ts";
import { withEntry, withoutEntry } from "../../src/sources/lock.ts";
import {
  findSkillsDirectory,
  globalScope,
  makeSkillsDirectory,
  projectScope,
} from "../../src/sources/install-scope.ts";
import { useTemporaryProject } from "../cli/temporary-project.ts";

const project = useTemporaryProject();
const entry = { source: "a/b", sourceType: "github" };

test("a lock is created, changed and read; no temporary file stays", async () => {
  const place = projectScope(project.directory, project.directory, {});
  expect(readLock(place).entries.size).toBe(0);
  await changeLock(place, "id", (lock) => withEntry(lock, "a", entry));
  expect(readLock(place).entries.get("a")).toEqual(entry);
  await changeLock(place, "id", (lock) => withoutEntry(lock, "a"));
  expect(readFileSync(project.at("skills-lock.json"), "utf8")).toBe('{\n  "version": 1,\n  "skills": {}\n}\n');
  expect(readdirSync(project.directory)).toEqual([".local", "skills-lock.json"]);
});

test.each(["{", '{"version":2,"skills":{}}', "<<<<<<< HEAD\n"])(
  "a lock that cannot be read (%j) is never written",
  async (text) => {
    project.write("skills-lock.json", text);
    await expect(
      changeLock(projectScope(project.directory, project.directory, {}), "id", (lock) => withEntry(lock, "a", entry)),
    ).rejects.toThrow("skills-lock.json:1:");
    expect(readFileSync(project.at("skills-lock.json"), "utf8")).toBe(text);
  },
);

test("what another program writes meanwhile is preserved", async () => {
  const place = projectScope(project.directory, project.directory, {});
  let times = 0;
  await changeLock(place, "id", (lock) => {
    times += 1;
    if (times === 1) writeFileSync(place.lockFile, '{"version":1,"skills":{"b":{"source":"s","sourceType":"t"}}}');
    return withEntry(lock, "a", entry);
  });
  expect([...readLock(place).entries.keys()]).toEqual(["a", "b"]);
  expect(times).toBe(2);
});

test("a change waits for the turn of another process, and removes what one that lost its turn was about to write", async () => {
  const place = projectScope(project.directory, project.directory, {});
  await changeLock(place, "id", (lock) => withEntry(lock, "a", entry));
  const lost = createChangeRecord(place, { skills: undefined, changes: [] });
  const temporary = project.write(`.skills-lock.json.${lost.id}.tmp`, "{}");
  const turns = new TurnLock(path.join(place.records, "lock"), { pause: () => Promise.reject(new Error("waited")) });
  const changes: Promise<void>[] = [];
  await turns.exclusive(async () => {
    changes.push(changeLock(place, "id", (lock) => withEntry(lock, "b", entry)));
    await new Promise((resolve) => setImmediate(resolve));
    expect([...readLock(place).entries.keys()]).toEqual(["a"]);
  });
  await Promise.all(changes);
  expect([...readLock(place).entries.keys()]).toEqual(["a", "b"]);
  expect(existsSync(temporary)).toBe(false);
});

test("of the changes of one lock by three processes none is lost", async () => {
  const count = 60;
  const program = fileURLToPath(new URL("change-lock.js", import.meta.url));
  const names = ["a", "b", "c"];
  await Promise.all(names.map((name) => execa(process.execPath, [program, project.directory, name, String(count)])));
  const { entries } = readLock(projectScope(project.directory, project.directory, {}));
  expect(entries.size).toBe(names.length * count);
});

test("a project's lock that is a link is not followed, a person's own is", async () => {
  project.write("real.json", '{"version":1,"skills":{}}');
  symlinkSync("real.json", project.at("skills-lock.json"));
  expect(() => readLock(projectScope(project.directory, project.directory, {}))).toThrow("it is a symlink");
  project.write("dotfiles/lock.json", '{"version":3,"skills":{}}');
  mkdirSync(project.at(".agents"));
  symlinkSync("../dotfiles/lock.json", project.at(".agents/.skill-lock.json"));
  await changeLock(globalScope(project.directory, {}), "id", (lock) => withEntry(lock, "a", entry));
  expect(readFileSync(project.at("dotfiles/lock.json"), "utf8")).toContain('"a/b"');
});

test("a global lock is where the skills package has it", async () => {
  expect(globalScope(project.directory, { XDG_STATE_HOME: "/state" }).lockFile).toBe("/state/skills/.skill-lock.json");
  await changeLock(globalScope(project.directory, {}), "id", (lock) => withEntry(lock, "a", entry));
  expect(readFileSync(project.at(".agents/.skill-lock.json"), "utf8")).toMatch(/^\{\n {2}"version": 3,\n.*\}$/s);
});

test("a lock that is not UTF-8 is refused", () => {
  writeFileSync(project.at("skills-lock.json"), Buffer.from([0x7b, 0xff]));
  expect(() => readLock(projectScope(project.directory, project.directory, {}))).toThrow("is not UTF-8");
});

test("the directory of skills is created, and is missing before", () => {
  const place = projectScope(project.directory, project.directory, {});
  expect(findSkillsDirectory(place)).toBeUndefined();
  expect(makeSkillsDirectory(place)).toBe(project.at(".agents", "skills"));
  expect(findSkillsDirectory(place)).toBe(project.at(".agents", "skills"));
});

test("a link in the project is followed within it, and refused out of it", () => {
  mkdirSync(project.at("in", ".claude", "skills"), { recursive: true });
  mkdirSync(project.at("out"));
  mkdirSync(project.at("in", ".agents"));
  symlinkSync("../.claude/skills", project.at("in", ".agents", "skills"));
  expect(makeSkillsDirectory(projectScope(project.at("in"), project.directory, {}))).toBe(
    project.at("in", ".claude", "skills"),
  );
  mkdirSync(project.at("bad"));
  symlinkSync("../out", project.at("bad", ".agents"));
  expect(() => makeSkillsDirectory(projectScope(project.at("bad"), project.directory, {}))).toThrow(
    "is a symlink out of the project",
  );
  expect(makeSkillsDirectory(globalScope(project.at("bad"), {}))).toBe(project.at("out", "skills"));
  project.write("file/.agents", "x");
  expect(() => makeSkillsDirectory(projectScope(project.at("file"), project.directory, {}))).toThrow(
    "is not a directory",
  );
});
