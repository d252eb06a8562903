import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import fc from "fast-check";
import type { SkillFile } from "../../../src/sources/reader.ts";
import { computedHash, fileDigests, hasSameFiles } from "../../../src/sources/lock.ts";

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

/** The algorithm of skills@1.7.4, on disk, with its synchronous equivalents. */
function hashAsSkillsDoes(directory: string): string {
  const files: { relativePath: string; content: Buffer }[] = [];
  const collect = (current: string): void => {
    for (const entry of readdirSync(current, { withFileTypes: true })) {
      const full = path.join(current, entry.name);
      if (entry.isDirectory()) {
        if (entry.name !== ".git" && entry.name !== "node_modules") collect(full);
      } else if (entry.isFile())
        files.push({ relativePath: path.relative(directory, full).split("\\").join("/"), content: readFileSync(full) });
    }
  };
  collect(directory);
  files.sort((a, b) => a.relativePath.localeCompare(b.relativePath, "en-US"));
  const hash = createHash("sha256");
  for (const { relativePath, content } of files) hash.update(relativePath).update(content);
  return hash.digest("hex");
}

const bytes = (text: string): Uint8Array => Buffer.from(text);

test("paths and bytes are hashed in the order of the English collation, whatever order they come in", () => {
  const files = ["SKILL.md", "scripts/run.sh", "assets/b.bin", "references/a.md"].map((path) => ({
    path,
    bytes: bytes(`of ${path}`),
  }));
  const inOrder = ["assets/b.bin", "references/a.md", "scripts/run.sh", "SKILL.md"];
  const expected = createHash("sha256")
    .update(inOrder.map((path) => `${path}of ${path}`).join(""))
    .digest("hex");
  expect(computedHash(files)).toBe(expected);
  expect(computedHash([...files].reverse())).toBe(expected);
});

test("directories named .git and node_modules are left out at any depth, files of that name are not", () => {
  const plain = [{ path: "SKILL.md", bytes: bytes("x") }];
  const more = [".git/config", "a/node_modules/b.js"].map((path) => ({ path, bytes: bytes("y") }));
  expect(computedHash([...plain, ...more])).toBe(computedHash(plain));
  expect(computedHash([...plain, { path: "node_modules", bytes: bytes("y") }])).not.toBe(computedHash(plain));
});

test("any directory has the hash that the skills package computes on disk", () => {
  const name = fc.constantFrom("a", "B", "b", "é", "Z_1", "z-2", ".git", "node_modules", "SKILL.md", "10", "9", "中");
  const tree = fc.uniqueArray(
    fc.record({ segments: fc.array(name, { minLength: 1, maxLength: 3 }), text: fc.string() }),
    {
      maxLength: 8,
      selector: ({ segments }) => segments.join("/").toLowerCase(),
    },
  );
  fc.assert(
    fc.property(tree, (given) => {
      const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-hash-"));
      try {
        const isFile = ({ segments }: { segments: readonly string[] }): boolean =>
          !given.some(
            (other) =>
              other.segments.length > segments.length &&
              other.segments
                .join("/")
                .toLowerCase()
                .startsWith(`${segments.join("/").toLowerCase()}/`),
          );
        const files = given
          .filter(isFile)
          .map(({ segments, text }) => ({ path: segments.join("/"), bytes: bytes(text) }));
        for (const file of files) {
          mkdirSync(path.dirname(path.join(directory, file.path)), { recursive: true });
          writeFileSync(path.join(directory, file.path), file.bytes);
        }
        expect(computedHash(files)).toBe(hashAsSkillsDoes(directory));
      } finally {
        rmSync(directory, { recursive: true });
      }
    }),
    { numRuns: 60 },
  );
});
