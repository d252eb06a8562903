import { expect, test } from "vitest";
import { fileDigests, hasSameFiles } from "../../../src/sources/lock/compare-files.ts";
import { computedHash } from "../../../src/sources/lock/computed-hash.ts";
import type { SkillFile } from "../../../src/sources/reader.ts";

function filesOf(texts: Readonly<Record<string, string>>): SkillFile[] {
  return Object.entries(texts).map(([path, text]) => ({ path, bytes: Buffer.from(text), executable: false }));
}

test("files are the same only if each has the same bytes, whatever the hash of the skills package says", () => {
  const [one, other] = [filesOf({ a: "1b2", b: "" }), filesOf({ a: "1", b: "2b" })];
  expect(computedHash(one)).toBe(computedHash(other));
  expect(hasSameFiles(one, other)).toBe(false);
  expect(hasSameFiles(one, [...one].reverse())).toBe(true);
  expect(hasSameFiles(one, filesOf({ a: "1b2" }))).toBe(false);
  expect(hasSameFiles(filesOf({ "node_modules/x.js": "1" }), filesOf({ "node_modules/x.js": "2" }))).toBe(false);
});

test("no two of 100,000 generated skills that differ have the same digests of files in the lock", () => {
  let state = 1;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const [names, texts] = [
    ["a", "b", "a/b", "ab", "a  b", "1", "SKILL.md"],
    ["", "1", "b", "ab", "b1", "1b2"],
  ];
  const seen = new Map<string, readonly SkillFile[]>();
  for (let left = 100_000; left > 0; left--) {
    const chosen = names.filter(() => next(2) === 0);
    const files = filesOf(Object.fromEntries(chosen.map((name) => [name, texts[next(texts.length)] ?? ""])));
    const locked = JSON.stringify(fileDigests(files));
    const same = seen.get(locked);
    if (same === undefined) seen.set(locked, files);
    else if (!hasSameFiles(same, files)) expect(files).toEqual(same);
  }
  expect(seen.size).toBeGreaterThan(10_000);
});
