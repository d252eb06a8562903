import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { parseGitUrl } from "../../../../src/sources/reader/git.ts";
import { toArchiveUrl } from "../../../../src/sources/reader/git/read-tarball.ts";
import { TestRepository, hasGit, serveGit, whyNoGit } from "./git-server.ts";
import { gitSourceOf, openSource, skillMd } from "./open-source.ts";
import type { SkillFile } from "../../../../src/sources/reader.ts";

const signal = new AbortController().signal;
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const c = "c".repeat(40);

test.each([
  ["https://github.com/o/r.git", `https://codeload.github.com/o/r/tar.gz/${c}`],
  ["https://gitlab.com/g/sub/p.git", `https://gitlab.com/g/sub/p/-/archive/${c}/p-${c}.tar.gz`],
  ["https://gitlab.example.com/g/p", `https://gitlab.example.com/g/p/-/archive/${c}/p-${c}.tar.gz`],
  ["https://codeberg.org/o/r.git/", `https://codeberg.org/o/r/archive/${c}.tar.gz`],
])("the archive of %j is at %j", (url, archive) => {
  expect(toArchiveUrl(parseGitUrl(url), c)).toBe(archive);
});

/** A host such as GitHub: refs as git serves them, archives elsewhere. */
async function openHost(
  repository: TestRepository,
  archiveOf = (commit: string): string => commit,
): Promise<{
  readonly url: string;
  readonly read: (directory: string) => Promise<readonly SkillFile[]>;
  readonly index: () => Promise<unknown>;
}> {
  const server = await serveGit({ r: repository.directory });
  const archives = createServer((request, response) => {
    const commit = archiveOf(/[0-9a-f]{40}/.exec(request.url ?? "")?.[0] ?? "");
    const args = ["archive", "--format=tar.gz", `--prefix=r-${commit}/`, commit];
    response.end(execFileSync("git", args, { cwd: repository.directory }));
  });
  await new Promise<void>((ready) => archives.listen(0, "127.0.0.1", ready));
  const base = `http://127.0.0.1:${(archives.address() as AddressInfo).port}`;
  const source = openSource([server.url, base], {
    findProgram: () => Promise.resolve(undefined),
    archiveUrl: (_url, commit) => `${base}/o/r/tar.gz/${commit}`,
  });
  ends.push(
    () => repository.remove(),
    () => new Promise((done) => archives.close(done)),
    () => server.close(),
    () => source.close(),
  );
  const url = `${server.url}/r.git`;
  return {
    url,
    index: () => source.readIndex(gitSourceOf(url), { signal }),
    read: (directory) => source.readGit(url, repository.head, directory, signal),
  };
}

const testGit = test.skipIf(!hasGit);

testGit(`without git, the skills come from the host's archive of the same commit${whyNoGit}`, async () => {
  const repository = new TestRepository({
    "skills/pdf/SKILL.md": skillMd("pdf"),
    "skills/pdf/run.sh": { script: "#!/bin/sh\n" },
    "skills/pdf/inner": { link: "run.sh" },
    "skills/pdf/passwd": { link: "/etc/passwd" },
  });
  const host = await openHost(repository);
  expect(await host.index()).toMatchObject({
    commit: repository.head,
    skills: [{ name: "pdf", content: { type: "git", directory: "skills/pdf", commit: repository.head } }],
    problems: ['"skills/pdf/passwd" is a symlink to something that is not a file of the same skill; left out.'],
  });
  const files = await host.read("skills/pdf");
  expect(files.map(({ path, executable }) => [path, executable]).sort()).toEqual([
    ["SKILL.md", false],
    ["inner", true],
    ["run.sh", true],
  ]);
});

testGit(`says when attributes make the archive differ from the repository${whyNoGit}`, async () => {
  const repository = new TestRepository({
    "skills/a/SKILL.md": skillMd("a"),
    "skills/a/tests/x.txt": "x",
    ".gitattributes": "tests export-ignore\n",
  });
  const host = await openHost(repository);
  expect(await host.index()).toMatchObject({
    problems: ["Its .gitattributes leave files out of archives or change them; with git on this machine all are read."],
  });
});

testGit(`refuses an archive of another commit${whyNoGit}`, async () => {
  const repository = new TestRepository({ "skills/a/SKILL.md": skillMd("a") });
  const first = repository.head;
  repository.commit({ "skills/a/SKILL.md": skillMd("a", "Later.") });
  const host = await openHost(repository, () => first);
  await expect(host.read("skills/a")).rejects.toMatchObject({
    code: "SOURCE_INVALID",
    message: expect.stringContaining(`is of ${first} instead of ${repository.head}`) as string,
  });
});
