import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { computedHash } from "../../../src/sources/lock/computed-hash.ts";

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
