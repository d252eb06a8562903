import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { toTarGz } from "../../../../src/sources/archive.ts";
import { type Contents, type GitServer, TestRepository, hasGit, serveGit, whyNoGit } from "../git/git-server.ts";
import { type OpenedSource, gitSourceOf, openSource, skillMd } from "../git/open-source.ts";
import type { RemoteIndex } from "../../../../src/sources/reader.ts";

const signal = new AbortController().signal;
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface World {
  readonly repositories: Readonly<Record<string, TestRepository>>;
  readonly server: GitServer;
  readonly source: OpenedSource;
  readonly index: (name: string) => Promise<RemoteIndex>;
}

async function serve(contents: Readonly<Record<string, Contents>>, typed: readonly string[] = []): Promise<World> {
  const repositories = Object.fromEntries(
    Object.entries(contents).map(([name, files]) => [name, new TestRepository(files)]),
  );
  const directories = Object.entries(repositories).map(([name, { directory }]) => [name, directory] as const);
  const server = await serveGit(Object.fromEntries(directories));
  const source = openSource([server.url, ...typed]);
  ends.push(
    ...Object.values(repositories).map((repository) => () => repository.remove()),
    () => server.close(),
    () => source.close(),
  );
  const index = async (name: string): Promise<RemoteIndex> => {
    const read = await source.readIndex(gitSourceOf(`${server.url}/${name}.git`), { signal });
    if (read === "unchanged") throw new Error("unchanged");
    return read;
  };
  return { repositories, server, source, index };
}

async function serveBytes(bytes: Uint8Array): Promise<string> {
  const server = createServer((_request, response) => response.end(bytes));
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  ends.push(() => new Promise((done) => server.close(done)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const testGit = test.skipIf(!hasGit);

testGit(`a marketplace in a repository offers the skills of its entries, each once${whyNoGit}`, async () => {
  const marketplace = {
    name: "m",
    owner: { name: "o" },
    plugins: [
      { name: "documents", source: "./", strict: false, skills: ["./skills/xlsx", "./skills/docx"] },
      { name: "again", source: "./", strict: false, skills: ["./skills/xlsx"] },
      { name: "tools", source: "./plugins/tools", hooks: "./hooks.json" },
      { name: "review", source: "./plugins/review" },
      { name: "gone", source: "./plugins/gone" },
      { name: "evil", source: { source: "command", command: "touch /tmp/never" } },
    ],
  };
  const { index, repositories, server } = await serve({
    m: {
      ".claude-plugin/marketplace.json": JSON.stringify(marketplace),
      "skills/xlsx/SKILL.md": skillMd("xlsx"),
      "skills/docx/SKILL.md": skillMd("docx"),
      "skills/unlisted/SKILL.md": skillMd("unlisted"),
      "plugins/tools/skills/lint/SKILL.md": skillMd("lint"),
      "plugins/tools/.mcp.json": "{}",
      "plugins/tools/.claude-plugin/plugin.json": JSON.stringify({ name: "tools", mcpServers: "./.mcp.json" }),
      "plugins/review/skills/lint/SKILL.md": skillMd("lint", "Another one."),
    },
  });
  const read = await index("m");
  expect(read).toMatchObject({ form: "marketplace", commit: repositories.m!.head });
  expect(read.skills.map(({ name, content }) => [name, content.type === "git" && content.directory])).toEqual([
    ["docx", "skills/docx"],
    ["lint", "plugins/tools/skills/lint"],
    ["review-lint", "plugins/review/skills/lint"],
    ["xlsx", "skills/xlsx"],
  ]);
  expect(read.skills[0]?.content).toMatchObject({ repository: `${server.url}/m.git` });
  expect(read.problems).toEqual([
    'The plugin "evil" cannot be used: its source is a command to run on this machine, which is never done.',
    'The plugin "gone" cannot be used: there is no directory "plugins/gone".',
    'The plugin "tools" also has hooks, mcpServers, which are not used; only its skills are.',
    '"plugins/review/skills/lint" is called review-lint, because another skill has the name lint.',
  ]);
});

testGit(`entries of other repositories are read at their commit and path${whyNoGit}`, async () => {
  const other = { "tools/a/skills/one/SKILL.md": skillMd("one"), "tools/b/skills/two/SKILL.md": skillMd("two") };
  const { index, repositories, server } = await serve({ other, plain: { "SKILL.md": skillMd("plain") }, m: {} });
  const pinned = repositories.other!.head;
  repositories.other!.commit({ "tools/a/skills/late/SKILL.md": skillMd("late") });
  const url = `${server.url}/other.git`;
  repositories.m!.commit({
    ".agents/plugins/marketplace.json": JSON.stringify({
      plugins: [
        { name: "a", source: { source: "git-subdir", url, path: "tools/a", sha: pinned } },
        { name: "b", source: { source: "url", url, path: "./tools/b/", ref: "main" } },
        { name: "plain", source: { source: "url", url: `${server.url}/plain.git` } },
        { name: "absent", source: { source: "url", url: `${server.url}/absent.git` } },
        { name: "metadata", source: { source: "url", url: "http://169.254.169.254/r.git" } },
      ],
    }),
  });
  const read = await index("m");
  expect(read.skills.map(({ name, content }) => [name, content])).toEqual([
    ["one", { type: "git", repository: url, commit: pinned, directory: "tools/a/skills/one" }],
    ["plain", expect.objectContaining({ directory: "" })],
    ["two", expect.objectContaining({ commit: repositories.other!.head, directory: "tools/b/skills/two" })],
  ]);
  expect(read.problems).toEqual([
    expect.stringContaining('The plugin "absent" cannot be read: '),
    expect.stringContaining('The plugin "metadata" cannot be read: '),
  ]);
});

testGit(`a repository that is one plugin has the skills that its manifest names${whyNoGit}`, async () => {
  const { index } = await serve({
    p: {
      ".codex-plugin/plugin.json": JSON.stringify({ name: "p", skills: "./mine/", hooks: {} }),
      "mine/a/SKILL.md": skillMd("a"),
      "other/b/SKILL.md": skillMd("b"),
    },
    broken: { ".claude-plugin/marketplace.json": "{", "deep/er/c/SKILL.md": skillMd("c") },
  });
  expect(await index("p")).toMatchObject({
    form: "git",
    skills: [{ name: "a" }],
    problems: ["The plugin also has hooks, which are not used; only its skills are."],
  });
  expect(await index("broken")).toMatchObject({ form: "git", skills: [{ name: "c" }] });
});

test("a marketplace by URL offers the skills in its archives, if their bytes are those that it names", async () => {
  const archive = await toTarGz([
    { path: "zed/skills/zed/SKILL.md", bytes: Buffer.from(skillMd("zed")), executable: false },
    { path: "zed/plugin.json", bytes: Buffer.from("{}"), executable: false },
  ]);
  const url = await serveBytes(archive);
  const sha256 = createHash("sha256").update(archive).digest("hex");
  const json = {
    plugins: [
      { name: "zed", source: { source: "archive", url: "/zed.tar.gz", sha256 } },
      { name: "false", source: { source: "archive", url: "/zed.tar.gz", sha256: "0".repeat(64) } },
      { name: "relative", source: "./plugins/relative" },
    ],
  };
  const source = openSource([url]);
  ends.push(() => source.close());
  const at = `${url}/marketplace.json`;
  const read = await source.readMarketplace({ kind: "marketplace", url: at, label: at }, json, at, signal);
  expect(read).toMatchObject({
    form: "marketplace",
    skills: [
      {
        name: "zed",
        content: { type: "archive", url: `${url}/zed.tar.gz`, digest: `sha256:${sha256}`, directory: "zed/skills/zed" },
      },
    ],
    problems: [
      'The plugin "relative" cannot be used: its source is a path in the marketplace\'s repository; add that repository instead.',
      expect.stringContaining(`its archive has the digest sha256:${sha256} instead of`),
    ],
  });
});

test("a public marketplace leads to no private host, even one that a person allowed", async () => {
  const url = await serveBytes(Buffer.from("never read"));
  const source = openSource([url]);
  ends.push(() => source.close());
  const json = {
    plugins: [
      { name: "a", source: { source: "archive", url: `${url}/a.tar.gz` } },
      { name: "b", source: { source: "url", url: `${url}/b.git` } },
      { name: "c", source: { source: "url", url: "https://127.0.0.1:1/c.git" } },
    ],
  };
  const at = "https://market.example.com/marketplace.json";
  const read = await source.readMarketplace({ kind: "marketplace", url: at, label: at }, json, at, signal);
  expect(read.skills).toEqual([]);
  expect(read.problems).toEqual([
    expect.stringContaining('The plugin "a" cannot be read: its URL is not https'),
    expect.stringContaining('The plugin "b" cannot be read: its URL is not https'),
    expect.stringContaining('The plugin "c" cannot be read: 127.0.0.1 is a private address'),
  ]);
});

test("a document that is no marketplace is a problem", async () => {
  const source = openSource([]);
  ends.push(() => source.close());
  const at = "https://market.example.com/marketplace.json";
  const read = await source.readMarketplace({ kind: "marketplace", url: at, label: at }, { plugins: 1 }, at, signal);
  expect(read).toMatchObject({
    skills: [],
    problems: ["The document is not a marketplace: it has no array `plugins`."],
  });
});

testGit(`a marketplace is unchanged only while what its entries follow is${whyNoGit}`, async () => {
  const { repositories, server, source, index } = await serve({ other: { "SKILL.md": skillMd("one") }, m: {} });
  const plugins = [{ name: "a", source: { source: "url", url: `${server.url}/other.git` } }];
  repositories.m!.commit({ "marketplace.json": JSON.stringify({ plugins }) });
  const { commit = "", etags = {} } = await index("m");
  const look = (): ReturnType<OpenedSource["readIndex"]> =>
    source.readIndex(gitSourceOf(`${server.url}/m.git`), { signal, commit, etags });
  expect(await look()).toBe("unchanged");
  repositories.other!.commit({ "SKILL.md": skillMd("two") });
  expect(await look()).toMatchObject({ skills: [{ name: "two" }], commit });
});

testGit(
  `an index is partial where a plugin's host does not answer now, and whole where it is not there${whyNoGit}`,
  async () => {
    const { repositories, server, index } = await serve({ m: {} }, ["http://127.0.0.1:1"]);
    const gone = { name: "gone", source: { source: "url", url: `${server.url}/gone.git` } };
    const down = { name: "down", source: { source: "url", url: "http://127.0.0.1:1/x.git" } };
    repositories.m!.commit({ "marketplace.json": JSON.stringify({ plugins: [gone] }), "a/SKILL.md": skillMd("a") });
    expect(await index("m")).not.toHaveProperty("isPartial");
    repositories.m!.commit({ "marketplace.json": JSON.stringify({ plugins: [gone, down] }) });
    expect(await index("m")).toMatchObject({ isPartial: true });
  },
);
