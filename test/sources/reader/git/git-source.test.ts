import { afterEach, expect, test } from "vitest";
import { type Contents, type GitServer, TestRepository, hasGit, serveGit, whyNoGit } from "./git-server.ts";
import { type OpenedSource, gitSourceOf, openSource, skillMd } from "./open-source.ts";
import type { RemoteIndex } from "../../../../src/sources/reader.ts";

const opened: { close?: () => Promise<void>; remove?: () => void }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) {
    await each.close?.();
    each.remove?.();
  }
});

interface Served {
  readonly repository: TestRepository;
  readonly server: GitServer;
  readonly url: string;
  readonly source: OpenedSource;
}

async function serve(contents: Contents): Promise<Served> {
  const repository = new TestRepository(contents);
  const server = await serveGit({ r: repository.directory });
  const source = openSource([server.url]);
  opened.push(repository, server, source);
  return { repository, server, source, url: `${server.url}/r.git` };
}

const signal = new AbortController().signal;

async function indexOf({ source, url }: Served, rest: { ref?: string; path?: string } = {}): Promise<RemoteIndex> {
  const index = await source.readIndex(gitSourceOf(url, rest), { signal });
  if (index === "unchanged") throw new Error("unchanged");
  return index;
}

const describeGit = test.skipIf(!hasGit);

describeGit(`lists the skills of a repository and reads their bytes at the commit${whyNoGit}`, async () => {
  const served = await serve({
    "README.md": "x",
    "skills/pdf/SKILL.md": skillMd("pdf"),
    "skills/pdf/scripts/run.sh": { script: "#!/bin/sh\necho hi\n" },
    "skills/pdf/data.bin": Buffer.from([0, 255, 10, 13]),
    ".claude/skills/other/SKILL.md": skillMd("other"),
    "docs/example/SKILL.md": skillMd("not-listed"),
  });
  const index = await indexOf(served);
  const commit = served.repository.head;
  expect(index).toMatchObject({ form: "git", commit, problems: [] });
  expect(index.skills.map(({ name, description }) => [name, description])).toEqual([
    ["other", "Does other."],
    ["pdf", "Does pdf."],
  ]);
  const [, pdf] = index.skills;
  expect(pdf?.content).toEqual({ type: "git", repository: served.url, commit, directory: "skills/pdf" });
  served.repository.commit({ "skills/pdf/SKILL.md": skillMd("pdf", "Changed.") });
  const files = await served.source.readGit(served.url, commit, "skills/pdf", signal);
  expect(files.map(({ path, executable }) => [path, executable])).toEqual([
    ["SKILL.md", false],
    ["data.bin", false],
    ["scripts/run.sh", true],
  ]);
  expect(Buffer.from(files[1]!.bytes)).toEqual(Buffer.from([0, 255, 10, 13]));
  expect(Buffer.from(files[0]!.bytes).toString()).toBe(skillMd("pdf"));
});

describeGit(`fetches a commit once for all its skills, and says when it is unchanged${whyNoGit}`, async () => {
  const served = await serve({ "skills/a/SKILL.md": skillMd("a"), "skills/b/SKILL.md": skillMd("b") });
  const { commit = "" } = await indexOf(served);
  const posts = (): number => served.server.requests.filter((line) => line.startsWith("POST")).length;
  const before = posts();
  const read = (name: string): Promise<unknown> => served.source.readGit(served.url, commit, `skills/${name}`, signal);
  await Promise.all([read("a"), read("b"), read("a")]);
  expect(posts()).toBe(before);
  expect(served.source.leftovers()).toHaveLength(1);
  expect(await served.source.readIndex(gitSourceOf(served.url), { signal, commit })).toBe("unchanged");
  served.repository.commit({ "skills/b/SKILL.md": skillMd("b", "Newer.") });
  expect(await served.source.readIndex(gitSourceOf(served.url), { signal, commit })).toMatchObject({
    commit: served.repository.head,
    skills: [{ name: "a" }, { name: "b", description: "Newer." }],
  });
  await served.source.readIndex(gitSourceOf(served.url), { signal });
  expect(served.source.leftovers()).toHaveLength(2);
});

describeGit(`reads the branch, the tag, the commit and the directory that are named${whyNoGit}`, async () => {
  const served = await serve({ "one/skills/a/SKILL.md": skillMd("a") });
  const { repository } = served;
  const first = repository.head;
  repository.git("tag", "-a", "-m", "x", "v1");
  repository.git("branch", "old/one");
  repository.commit({ "two/b/SKILL.md": skillMd("b") });
  for (const ref of ["v1", "old/one", first]) {
    expect(await indexOf(served, { ref })).toMatchObject({ commit: first, skills: [{ name: "a" }] });
  }
  expect(await indexOf(served, { path: "two" })).toMatchObject({ skills: [{ name: "b" }] });
  expect(await indexOf(served, { path: "two/b" })).toMatchObject({ skills: [{ name: "b" }] });
  expect(await indexOf(served, { path: "three" })).toMatchObject({
    skills: [],
    problems: ['There is no SKILL.md in "three".'],
  });
  await expect(indexOf(served, { ref: "v2" })).rejects.toThrow('has no branch or tag "v2"');
});

describeGit(`one caller that gives up does not take the repository from another${whyNoGit}`, async () => {
  const served = await serve({ "skills/a/SKILL.md": skillMd("a") });
  const { head } = served.repository;
  const impatient = new AbortController();
  const [gone, stayed] = [impatient.signal, signal].map((each) =>
    served.source.readGit(served.url, head, "skills/a", each),
  );
  impatient.abort(new Error("given up"));
  await expect(gone).rejects.toThrow("given up");
  await expect(stayed).resolves.toHaveLength(1);
});

describeGit(`reads repositories whose ids are SHA-256${whyNoGit}`, async () => {
  const repository = new TestRepository({}, "--object-format=sha256");
  const commit = repository.commit({ "SKILL.md": skillMd("root") });
  const server = await serveGit({ r: repository.directory });
  const source = openSource([server.url]);
  opened.push(repository, server, source);
  expect(commit).toHaveLength(64);
  expect(await source.readIndex(gitSourceOf(`${server.url}/r.git`), { signal })).toMatchObject({
    commit,
    skills: [{ name: "root", content: { directory: "" } }],
  });
});

describeGit(`gives each skill a name of its own, and says which ones have none${whyNoGit}`, async () => {
  const served = await serve({
    "skills/x/pdf/SKILL.md": skillMd("pdf"),
    "skills/y/pdf/SKILL.md": skillMd("pdf"),
    "skills/Big One/SKILL.md": "---\ndescription: No name.\n---\n",
    "skills/mute/SKILL.md": "# Nothing\n",
    "skills/x/pdf/inner/SKILL.md": skillMd("inner"),
  });
  const index = await indexOf(served);
  expect(index.skills.map(({ name }) => name)).toEqual(["big-one", "pdf", "y-pdf"]);
  expect(index.problems).toEqual([
    '"skills/mute" has no description that can be read; left out.',
    '"skills/y/pdf" is called y-pdf, because another skill has the name pdf.',
  ]);
});
