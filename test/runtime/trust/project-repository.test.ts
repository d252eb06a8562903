import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ofRepository, repositoryAt } from "../../../src/runtime/trust/project-of.ts";
import { nothingApproved } from "../../../src/runtime/trust/approvals/scope-approvals.ts";

function makeProject(): string {
  const root = mkdtempSync(path.join(tmpdir(), "acp-skills-repository-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  makeRepository(path.join(root, "project"));
  return path.join(root, "project");
}

function makeRepository(project: string): void {
  for (const name of ["objects", "refs"]) mkdirSync(path.join(project, ".git", name), { recursive: true });
  writeFileSync(path.join(project, ".git", "HEAD"), "ref: refs/heads/main\n");
}

test("a repository keeps its identity when its files change and when it moves", () => {
  const project = makeProject();
  const before = repositoryAt(project);
  expect(before).toMatch(/^\d+-\d+$/);
  writeFileSync(path.join(project, ".git", "HEAD"), "ref: refs/heads/other\n");
  writeFileSync(path.join(project, "file"), "text");
  expect(repositoryAt(project)).toBe(before);
  renameSync(project, `${project}-moved`);
  expect(repositoryAt(`${project}-moved`)).toBe(before);
});

test("another repository at the same path has another identity, also where the inode is used again", () => {
  const project = makeProject();
  const seen = new Set<string | undefined>();
  for (let times = 0; times < 20; times++) {
    rmSync(project, { recursive: true });
    makeRepository(project);
    seen.add(repositoryAt(project));
  }
  expect(seen.size).toBe(20);
});

test("without git it is that of the directory, and a directory that is missing has none", () => {
  const project = makeProject();
  rmSync(path.join(project, ".git"), { recursive: true });
  const before = repositoryAt(project);
  expect(before).toBeDefined();
  mkdirSync(path.join(project, ".git"));
  expect(repositoryAt(project)).toBe(before);
  makeRepository(project);
  expect(repositoryAt(project)).not.toBe(before);
  expect(repositoryAt(path.join(project, "missing"))).toBeUndefined();
});

test("approvals without a repository, or for another one, grant nothing", () => {
  const block = { skill: "bad", from: "project", who: "ada", when: "2026-01-01T00:00:00.000Z", via: "test" } as const;
  const trusted = { who: "ada", when: "2026-01-01T00:00:00.000Z", via: "test" };
  const stored = { ...nothingApproved({ project: "/work/shop" }), trusted, blocks: [block] };
  for (const approvals of [stored, { ...stored, repository: "1-1" }]) {
    expect(ofRepository(approvals, "2-2").trusted).toBeUndefined();
    expect(ofRepository(approvals, undefined).trusted).toBeUndefined();
    expect(ofRepository(approvals, "2-2").blocks).toEqual([block]);
  }
  expect(ofRepository({ ...stored, repository: "2-2" }, "2-2").trusted).toEqual(trusted);
});
