import fc from "fast-check";
import { expect, test } from "vitest";
import { directoryName, emptyLock, parseLock, toLockText, withEntry, withoutEntry } from "../../src/sources/lock.ts";

const hash = "1c5aa395".repeat(8);
/** As skills@1.7.4 writes them. */
const project = `${JSON.stringify(
  {
    version: 1,
    skills: {
      "Beta Skill": { source: "./local", sourceType: "local", computedHash: hash },
      alpha: {
        source: "acme/repo",
        ref: "main",
        sourceType: "github",
        skillPath: "skills/alpha/SKILL.md",
        computedHash: hash,
      },
      "gz-tar": {
        source: "127.0.0.1",
        sourceUrl: "http://127.0.0.1:34259/",
        sourceType: "well-known",
        computedHash: hash,
        wellKnownDigest: `sha256:${hash}`,
      },
    },
  },
  null,
  2,
)}\n`;
const global = JSON.stringify(
  {
    version: 3,
    skills: {
      zeta: {
        source: "acme/repo",
        sourceType: "github",
        sourceUrl: "https://github.com/acme/repo.git",
        skillPath: "SKILL.md",
        skillFolderHash: "ab",
        pluginName: "my-plug",
        installedAt: "2026-01-01T00:00:00.000Z",
        updatedAt: "2026-01-01T00:00:00.000Z",
      },
      alpha: {
        source: "h",
        sourceType: "well-known",
        sourceUrl: "https://h/a",
        skillFolderHash: "",
        sourceBaseUrl: "https://h/",
      },
    },
    dismissed: {},
    lastSelectedAgents: ["claude-code"],
  },
  null,
  2,
);

test("a lock of the skills package is written back byte for byte, the project's and the global one", () => {
  expect(toLockText(parseLock(project, "skills-lock.json", "project"))).toBe(project);
  expect(toLockText(parseLock(global, ".skill-lock.json", "global"))).toBe(global);
});

test("an added entry is sorted by code unit, with the keys of the skills package first", () => {
  const entry = {
    digest: `sha256:${hash}`,
    computedHash: hash,
    sourceType: "github",
    source: "a/b",
    commit: "ab".repeat(20),
    files: { "b.md": hash, "SKILL.md": hash },
  };
  const text = toLockText(withEntry(parseLock(project, "f", "project"), "Zed", entry));
  const { skills } = JSON.parse(text) as { skills: Record<string, object> };
  expect(Object.keys(skills)).toEqual(["Beta Skill", "Zed", "alpha", "gz-tar"]);
  expect(Object.keys(skills["Zed"] ?? {})).toEqual([
    "source",
    "sourceType",
    "computedHash",
    "commit",
    "digest",
    "files",
  ]);
  expect(text).toBe(`${JSON.stringify(JSON.parse(text), null, 2)}\n`);
  expect(toLockText(parseLock(text, "f", "project"))).toBe(text);
});

test("unknown keys survive, also in the entry that changes", () => {
  const text = `{"version":1,"skills":{"a":{"source":"x/y","sourceType":"github","n":1.5},"b":{"source":"s","sourceType":"t","u":[ 1 ]}},"extra":{"k":1}}`;
  const lock = parseLock(text, "f", "project");
  const written = toLockText(withEntry(lock, "a", { source: "x/z", sourceType: "github" }));
  expect(JSON.parse(written)).toEqual({
    version: 1,
    skills: { a: { source: "x/z", sourceType: "github", n: 1.5 }, b: { source: "s", sourceType: "t", u: [1] } },
    extra: { k: 1 },
  });
});

test("a removed entry is gone, and an empty lock is as the skills package writes it", () => {
  const lock = parseLock(project, "f", "project");
  expect(toLockText(withoutEntry(lock, "alpha"))).not.toContain("alpha");
  expect(toLockText(emptyLock("project"))).toBe('{\n  "version": 1,\n  "skills": {}\n}\n');
});

test.each([
  ["no JSON", '{"version": 1,\n "skills": {,}}', "f:2:13: expected a key in quotes"],
  ["a trailing comma", '{"version":1,"skills":{},}', "f:1:26: expected a key in quotes"],
  ["a conflict", `{\n<<<<<<< HEAD\n  "version": 1,\n=======\n>>>>>>> other\n}`, "f:2:1: a merge conflict. Resolve it"],
  [
    "a newer version",
    '{\n  "version": 2,\n  "skills": {}\n}',
    "f:2:14: version 2 of the lock cannot be read, only 1. Update acp-skills.",
  ],
  ["no version", '{"skills":{}}', 'f:1:1: "version" must be 1'],
  ["version 0", '{"version":0,"skills":{}}', "f:1:12: version 0"],
  ["no skills", '{"version":1}', '"skills" is missing'],
  ["an array of skills", '{"version":1,"skills":[]}', '"skills" must be an object'],
  ["a key twice", '{"version":1,"skills":{"a":{"source":"x","sourceType":"y"},"a":{}}}', 'f:1:60: "a" occurs twice'],
  ["no source", '{"version":1,"skills":{"a":{"sourceType":"y"}}}', '"source" is missing'],
  ["a number as source", '{"version":1,"skills":{"a":{"source":1,"sourceType":"y"}}}', '"source" must be a string'],
  [
    "a short digest",
    '{"version":1,"skills":{"a":{"source":"s","sourceType":"y","digest":"sha256:ab"}}}',
    '"digest" must be sha256:',
  ],
  [
    "an abbreviated commit",
    '{"version":1,"skills":{"a":{"source":"s","sourceType":"y","commit":"abcdef0"}}}',
    '"commit" must be',
  ],
  [
    "a wrong digest of a file",
    '{"version":1,"skills":{"a":{"source":"s","sourceType":"y","files":{"a":1}}}}',
    "a digest of a file",
  ],
  ["an empty file", "", "f:1:1: expected a value, got the end of the file"],
])("a lock with %s is refused, with the place and what to do", (_what, text, message) => {
  expect(() => parseLock(text, "f", "project")).toThrow(message);
});

test("a global lock of an old version is refused, not emptied", () => {
  expect(() => parseLock('{"version":2,"skills":{}}', "f", "global")).toThrow(
    "version 2 of the lock cannot be read, only 3",
  );
});

test("any lock that can be read is written so that it reads the same, and the text then stays the same", () => {
  const text = fc.string({ unit: "binary" });
  const entry = fc.record(
    {
      source: text,
      sourceType: text,
      sourceUrl: text,
      ref: text,
      skillPath: text,
      computedHash: text,
      custom: fc.jsonValue(),
    },
    { requiredKeys: ["source", "sourceType"] },
  );
  fc.assert(
    fc.property(fc.dictionary(text, entry), fc.boolean(), (skills, isPretty) => {
      const given = JSON.stringify({ version: 1, skills }, null, isPretty ? 2 : 0);
      const lock = parseLock(given, "f", "project");
      const written = toLockText(lock);
      expect(JSON.parse(written)).toEqual(JSON.parse(given));
      expect(toLockText(parseLock(written, "f", "project"))).toBe(written);
    }),
  );
});

test("any key is the name of one directory, which is never hidden or above", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (key) => {
      expect(directoryName(key)).toMatch(/^[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?$/);
    }),
  );
  expect(["Beta Skill", "../../etc/passwd", "..", ""].map(directoryName)).toEqual([
    "beta-skill",
    "etc-passwd",
    "unnamed-skill",
    "unnamed-skill",
  ]);
});
