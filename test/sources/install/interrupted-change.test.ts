import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { stateOf } from "../../../src/sources/installed.ts";
import { recoverSkillsDirectory, replaceSkills } from "../../../src/sources/install/replace-skills.ts";
import { recordNames } from "../../../src/sources/lock/change-record.ts";
import { readLock } from "../../../src/sources/lock-file.ts";
import { emptyLock } from "../../../src/sources/lock.ts";
import { dieAtEachChange, isEachKilled } from "../../base/processes/die-at-each-change.ts";
import { placeIn, replacementOf } from "./installed-skills.js";

const program = fileURLToPath(new URL("dying-change.js", import.meta.url));
const made: string[] = [];
afterEach(() => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true });
}, 120_000);

async function prepare(count: number): Promise<string> {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-interrupted-")));
  made.push(directory);
  mkdirSync(path.join(directory, "project"));
  const place = placeIn(directory);
  const all = Array.from({ length: count }, (_, index) => replacementOf(`skill-${index + 1}`, 1, 0));
  if (count > 0) await replaceSkills(place, emptyLock("project"), all);
  return directory;
}

/** The version of each skill after the next command has begun; 0 is none. Each is exactly what the lock has, and nothing else is left. */
async function versionsAfter(directory: string, count: number, moment: string): Promise<readonly number[]> {
  const place = placeIn(directory);
  const told: string[] = [];
  const skills = await recoverSkillsDirectory(place, (note) => told.push(note));
  expect(told, moment).toEqual([]);
  const { entries } = readLock(place);
  const versions: number[] = [];
  for (let number = 1; number <= count; number++) {
    const entry = entries.get(`skill-${number}`);
    versions.push(Number.parseInt(entry?.version ?? "0", 10));
    if (entry !== undefined)
      expect((await stateOf(skills, `skill-${number}`, entry)).state, `${moment}: ${number}`).toBe("unchanged");
  }
  expect(skills === undefined ? [] : readdirSync(skills).sort(), moment).toEqual([...entries.keys()].sort());
  const left = readdirSync(place.base).flatMap((name) =>
    name === ".agents" ? readdirSync(path.join(place.base, name)) : [name],
  );
  expect(
    left.filter((name) => name !== "skills" && name !== "skills-lock.json"),
    moment,
  ).toEqual([]);
  expect(recordNames(place.records), moment).toEqual([]);
  return versions;
}

test.each([
  { what: "add", before: 0, after: 1 },
  { what: "update", before: 1, after: 2 },
  { what: "remove", before: 1, after: 0 },
])(
  "$what that is killed at any change of the file system leaves each skill as it was or as it is to be",
  async ({ what, before, after }) => {
    const latest = await dieAtEachChange({
      program,
      args: ["2", what],
      prepare: () => prepare(2 * before),
      directoryOf: (directory) => directory,
      async check(directory, _, moment) {
        const versions = await versionsAfter(directory, 2, moment);
        // One after the other.
        expect([`${before},${before}`, `${after},${before}`, `${after},${after}`], moment).toContain(versions.join());
      },
    });
    expect(latest).toBeGreaterThan(20);
  },
  120_000,
);

test("an add of 864 skills that is killed leaves some of them installed, and none in between", async () => {
  const count = 864;
  const latest = await dieAtEachChange({
    program,
    args: [String(count), "add"],
    every: isEachKilled ? 7_001 : 1_501,
    prepare: () => prepare(0),
    directoryOf: (directory) => directory,
    async check(directory, _, moment) {
      const versions = await versionsAfter(directory, count, moment);
      const installed = versions.filter((version) => version === 1).length;
      expect(versions, moment).toEqual(versions.map((_version, index) => (index < installed ? 1 : 0)));
    },
  });
  expect(latest).toBeGreaterThan(1);
}, 240_000);
