import { expect, test } from "vitest";
import { findLocked, lockedSource, lockedUrl, sourceOfEntry } from "../../../src/sources/lock/locked-source.ts";
import type { LockEntry } from "../../../src/sources/lock.ts";
import { parseSource } from "../../../src/sources/source.ts";
import type { RemoteIndex, RemoteSkill } from "../../../src/sources/reader.ts";

const commit = "ab".repeat(20);
const files = [{ path: "SKILL.md", bytes: Buffer.from("x"), executable: false }];
const inGit: RemoteSkill = {
  name: "pdf",
  description: "d",
  content: { type: "git", repository: "https://github.com/acme/repo.git", commit, directory: "skills/pdf" },
};
const archive: RemoteSkill = {
  name: "rows",
  description: "d",
  content: { type: "archive", url: "https://example.com/s/T0ken_x-1/rows.tar.gz", digest: `sha256:${"c".repeat(64)}` },
};

function locked(
  text: string,
  form: RemoteIndex["form"],
  skill: RemoteSkill,
  lockForm: "project" | "global" = "project",
): LockEntry {
  return lockedSource({ source: parseSource(text), form }, skill, files, lockForm);
}

test("sources are locked as the skills package does, and read back as the same source", () => {
  const github = locked("acme/repo@main", "git", inGit);
  expect(github).toEqual({
    source: "acme/repo",
    sourceType: "github",
    ref: "main",
    skillPath: "skills/pdf/SKILL.md",
    commit,
  });
  expect(sourceOfEntry(github)).toEqual(parseSource("acme/repo@main"));
  const git = locked("git:https://example.com/r.git", "git", {
    ...inGit,
    content: { ...inGit.content, repository: "https://example.com/r.git" } as RemoteSkill["content"],
  });
  expect(git).toMatchObject({
    source: "https://example.com/r.git",
    sourceUrl: "https://example.com/r.git",
    sourceType: "git",
  });
  expect(sourceOfEntry(git)).toEqual(parseSource("git:https://example.com/r.git"));
  const known = locked("https://www.example.com/x/", "agent-skills-0.2", archive);
  expect(known).toEqual({
    source: "example.com",
    sourceUrl: "https://www.example.com/x/",
    sourceType: "well-known",
    wellKnownDigest: `sha256:${"c".repeat(64)}`,
  });
  expect(sourceOfEntry(known)).toEqual(parseSource("https://www.example.com/x/"));
  const registry = locked("registry:https://example.com/r", "registry", archive);
  expect(sourceOfEntry(registry)).toEqual(parseSource("registry:https://example.com/r"));
});

test("a skill of another repository, which a marketplace in the source lists, is locked with the marketplace", () => {
  const entry = locked("acme/marketplace@v1", "marketplace", inGit);
  expect(entry).toEqual({
    source: "github.com",
    sourceUrl: "https://github.com/acme/marketplace.git",
    sourceType: "marketplace",
    ref: "v1",
    commit,
  });
  expect(sourceOfEntry(entry)).toEqual(parseSource("acme/marketplace@v1"));
});

test("a global entry has the artifact's URL too, without its token", () => {
  expect(locked("https://example.com/s/T0ken_x-1/", "agent-skills-0.2", archive, "global")).toMatchObject({
    sourceUrl: "https://example.com/s/…/rows.tar.gz",
    sourceBaseUrl: "https://example.com/s/…/",
  });
});

test("a token or a query never reaches a lock; what is left names no other source", () => {
  const given = parseSource("https://example.com/s/T0ken_x-1/");
  const entry = locked(given.url, "agent-skills-0.2", archive);
  expect(JSON.stringify(entry)).not.toContain("T0ken");
  expect(sourceOfEntry(entry)).toEqual({
    why: "The secret part of its URL is not in the lock; give the whole URL of https://example.com/s/…/ with --source.",
    isGivable: true,
  });
  const elsewhere = parseSource("https://other.example.com/s/T0ken_x-1/");
  expect(sourceOfEntry(entry, [elsewhere, given])).toBe(given);
  expect(sourceOfEntry(entry, [elsewhere])).toHaveProperty("why");
  const withoutSlash = parseSource("https://example.com/s/T0ken_x-1");
  expect(sourceOfEntry(entry, [withoutSlash])).toBe(withoutSlash);
  expect(lockedUrl("https://example.com/i?key=secret")).toBe("https://example.com/i?…");
});

test("entries of the skills package are understood, and what cannot be read says why", () => {
  const entry = (fields: Partial<LockEntry>): LockEntry => ({ source: "acme/repo", sourceType: "github", ...fields });
  expect(sourceOfEntry(entry({ ref: "v1" }))).toEqual(parseSource("acme/repo@v1"));
  expect(sourceOfEntry(entry({ sourceType: "git", source: "git@example.com:o/r.git" }))).toMatchObject({
    url: "ssh://git@example.com/o/r.git",
  });
  for (const fields of [
    { sourceType: "local", source: "./x" },
    { sourceType: "node_modules", source: "pkg" },
    { sourceType: "git", source: "o/r" },
    { sourceType: "git", source: "file:///tmp/r" },
    { sourceType: "well-known", source: "example.com" },
    { sourceType: "new-kind" },
    { ref: "--upload-pack=x" },
  ])
    expect(sourceOfEntry(entry(fields))).toHaveProperty("why");
});

test("a skill is found where it was in its repository, else by its name", () => {
  const index = {
    source: parseSource("acme/repo"),
    form: "git" as const,
    problems: [],
    skills: [inGit, { ...archive, name: "old" }],
  };
  expect(
    findLocked("other", { source: "s", sourceType: "github", skillPath: "skills/pdf/SKILL.md" }, index)?.name,
  ).toBe("pdf");
  expect(findLocked("pdf", { source: "s", sourceType: "github", skillPath: "moved/SKILL.md" }, index)?.name).toBe(
    "pdf",
  );
  expect(findLocked("key", { source: "s", sourceType: "well-known", name: "old" }, index)?.name).toBe("old");
  expect(findLocked("key", { source: "s", sourceType: "well-known" }, index)).toBeUndefined();
});
