import { expect, test } from "vitest";
import { SkillsError } from "../../../src/base/errors.ts";
import { agentSkillsSchema } from "../../../src/sources/reader/indexes/agent-skills.ts";
import { indexLimits } from "../../../src/sources/reader/indexes/collect-skills.ts";
import { readSource } from "../../../src/sources/reader/open-source-reader.ts";
import { parseSource } from "../../../src/sources/source.ts";
import { fakeFetcher } from "../fake-fetcher.ts";
import { digest } from "./indexes/read-document.ts";
import type { RemoteIndex } from "../../../src/sources/reader.ts";

const { signal } = new AbortController();
const git = (): never => expect.unreachable("git is not needed");
const entry = (name: string, type = "api"): object => ({
  id: `com.example.${name}-v1`,
  name,
  capability_type: type,
  description: `Does ${name}.`,
  descriptor_url: `/skills/${name}/descriptor.json`,
  access: "public",
  version: "1.2.0",
});
const protocol = { version: "1.0.0" };
const sharing = (...skills: readonly object[]): object => ({ protocol, provider: { name: "E" }, skills });
const artifact = (name: string): object => ({
  name,
  type: "archive",
  description: "A.",
  url: `${name}.tar.gz`,
  digest,
});
const agentSkills = (...names: readonly string[]): object => ({
  $schema: agentSkillsSchema,
  skills: names.map(artifact),
});
const site = "https://example.com";
const known = `${site}/.well-known`;
const unreachable = new SkillsError("ENDPOINT_UNREACHABLE", "No connection to example.com.");

type Web = Parameters<typeof fakeFetcher>[0];
const read = async (text: string, web: Web, fetcher = fakeFetcher(web)): Promise<RemoteIndex> =>
  (await readSource(parseSource(text), { fetcher, git, signal })) as RemoteIndex;
const namesOf = ({ skills }: RemoteIndex): readonly string[] => skills.map(({ name }) => name);

test("a domain is asked for both indexes; a skill in both has its files from Agent Skills unless it is invoked", async () => {
  const index = await read("example.com", {
    [`${known}/skill-sharing`]: {
      body: sharing(entry("zip"), entry("both", "knowledge"), entry("call"), entry("call2")),
    },
    [`${known}/agent-skills/index.json`]: { body: agentSkills("both", "call", "alone") },
    [`${known}/skills/index.json`]: { body: { skills: [{ name: "alone", description: "Old.", files: ["SKILL.md"] }, { name: "old", description: "Old.", files: ["SKILL.md"] }] } }, // prettier-ignore
  });
  expect(index.form).toBe("skill-sharing");
  expect(index.problems).toEqual([]);
  expect(index.skills.map(({ name, id, content }) => [name, id, content.type])).toEqual([
    ["alone", undefined, "archive"],
    ["both", "com.example.both-v1", "archive"],
    ["call", "com.example.call-v1", "descriptor"],
    ["call2", "com.example.call2-v1", "descriptor"],
    ["old", undefined, "files"],
    ["zip", "com.example.zip-v1", "descriptor"],
  ]);
});

test("a path is asked first, and its root if it has nothing", async () => {
  const root = { [`${known}/agent-skills/index.json`]: { body: agentSkills("root") } };
  const below = { [`${site}/team/.well-known/agent-skills/index.json`]: { body: agentSkills("below") } };
  expect(namesOf(await read("example.com/team/", { ...root, ...below }))).toEqual(["below"]);
  expect(namesOf(await read("example.com/team", root))).toEqual(["root"]);
});

test("the root of a share is never read in its place", async () => {
  const web = { [`${known}/agent-skills/index.json`]: { body: agentSkills("root") } };
  const refusal = read("https://example.com/s/hunter2hunter2hunter2/", web);
  await expect(refusal).rejects.toMatchObject({ code: "SOURCE_INVALID" });
  await expect(refusal).rejects.not.toThrow(/hunter2/);
});

test.each([
  ["an index", sharing(entry("a")), "skill-sharing"],
  ["an index of Agent Skills", agentSkills("a"), "agent-skills-0.2"],
  ["an array", [entry("a")], "registry"],
])("the address of %s is read itself", async (_what, body, form) => {
  for (const address of [`${site}/x/list`, `${site}/x/list.json`]) {
    const index = await read(address, { [address]: { body } });
    expect(index.form).toBe(form);
    expect(namesOf(index)).toEqual(["a"]);
  }
});

test("a document is asked before anything else", async () => {
  const fetcher = fakeFetcher({ [`${site}/x.json`]: { body: agentSkills("a") } });
  await readSource(parseSource(`${site}/x.json`), { fetcher, git, signal });
  expect(fetcher.asked).toEqual([`${site}/x.json`]);
});

test("a registry is asked for its skills, page by page", async () => {
  const page = (names: readonly string[], cursor?: string): object => ({ protocol, skills: names.map((name) => entry(name)), next_cursor: cursor }); // prettier-ignore
  const web = {
    [`${site}/r/skills`]: { body: page(["c", "b"], "2"), headers: { etag: '"1"' } },
    [`${site}/r/skills?cursor=2`]: { body: page(["a", "b"], "3"), headers: { etag: '"2"' } },
    [`${site}/r/skills?cursor=3`]: { body: page(["d"], "2") },
  };
  const index = await read("registry:example.com/r", web);
  expect(index).toMatchObject({
    form: "registry",
    problems: [`${site}/r/skills: the name b is listed on two pages; the first one is used`],
    etags: { [`${site}/r/skills`]: '"1"', [`${site}/r/skills?cursor=2`]: '"2"' },
  });
  expect(namesOf(index)).toEqual(["a", "b", "c", "d"]);
  expect(namesOf(await read("registry:example.com/r/skills", web))).toHaveLength(4);
});

test("pages without an end are read up to a limit", async () => {
  let asked = 0;
  const endless = fakeFetcher({});
  endless.fetch = (request) => {
    asked++;
    const body = Buffer.from(JSON.stringify({ protocol, skills: [entry(`s${asked}`)], next_cursor: String(asked) }));
    return Promise.resolve({ status: 200, headers: {}, url: request.url, body });
  };
  const index = await read("registry:example.com", {}, endless);
  expect(asked).toBe(indexLimits.pages);
  expect(index.problems).toEqual([`${site}/skills: only the first ${indexLimits.pages} skills are read`]);
});

test("a page that cannot be read now leaves the others, and says that there may be more", async () => {
  const web = {
    [`${site}/skills`]: { body: { protocol, skills: [entry("a")], next_cursor: "2" } },
    [`${site}/skills?cursor=2`]: { status: 503 },
  };
  expect(await read("registry:example.com", web)).toMatchObject({
    isPartial: true,
    skills: [{ name: "a" }],
    problems: [`${site}/skills answered 503`],
  });
});

test("a form that cannot be read now is reported beside the one that can", async () => {
  const web = { [`${known}/skill-sharing`]: { status: 429 }, [`${known}/agent-skills/index.json`]: { body: agentSkills("a") } }; // prettier-ignore
  expect(await read("example.com", web)).toMatchObject({
    isPartial: true,
    skills: [{ name: "a" }],
    problems: [`${known}/skill-sharing answered 429`],
  });
  expect(await read("example.com", { ...web, [`${known}/skill-sharing`]: { body: "<html>" } })).not.toHaveProperty("isPartial"); // prettier-ignore
});

test("where nothing is, every address and its answer is named", async () => {
  const web = {
    [`${known}/skill-sharing`]: { status: 401 },
    [`${known}/agent-skills/index.json`]: { body: "<!doctype html>" },
    [`${site}/`]: { body: new Uint8Array([0xff]) },
  };
  await expect(read("example.com", web)).rejects.toMatchObject({
    code: "SOURCE_INVALID",
    message: [
      `${site}/ lists no skills: ${known}/skill-sharing answered 401, which needs credentials: --token env:NAME of acp-skills add, update, discover and find, or the URL of a share (/s/TOKEN/) from its publisher`,
      `${known}/agent-skills/index.json answered with something else (it is not JSON)`,
      `${known}/skills/index.json answered 404`,
      `${site}/ answered with something that is not text`,
      `${site}/.claude-plugin/marketplace.json answered 404`,
      `${site}/marketplace.json answered 404`,
    ].join("; "),
  });
});

test.each([unreachable, new SkillsError("EXECUTION_TIMEOUT", "example.com did not answer."), { status: 502 }])(
  "where something may be that cannot be read now, the code says so",
  async (answer) => {
    const refusal = read("example.com", { [`${known}/skill-sharing`]: answer });
    await expect(refusal).rejects.toMatchObject({ code: "ENDPOINT_UNREACHABLE" });
  },
);

test("a host that cannot be asked is named once, and not asked for everything", async () => {
  const pages = ["skill-sharing", "agent-skills/index.json", "skills/index.json"].map((name) => `${known}/${name}`);
  const fetcher = fakeFetcher(Object.fromEntries(pages.map((page) => [page, unreachable])));
  await expect(readSource(parseSource("example.com"), { fetcher, git, signal })).rejects.toMatchObject({
    code: "ENDPOINT_UNREACHABLE",
    message: `${site}/ cannot be read: No connection to example.com`,
  });
  expect(fetcher.asked).toEqual(pages);
});

test("a descriptor of another version is refused with both versions", async () => {
  const address = `${site}/x/descriptor.json`;
  const web = { [address]: { body: { protocol: { version: "2.1.0" }, capability_type: "api" } } };
  await expect(read(address, web)).rejects.toMatchObject({
    code: "VERSION_INCOMPATIBLE",
    message: expect.stringMatching(/^https:\/\/example\.com\/x\/descriptor\.json: .*2\.1\.0.*1\.0\.0/) as string,
  });
});

test("links are resolved against the address that answered", async () => {
  const address = `${known}/agent-skills/index.json`;
  const web = { [address]: { url: "https://cdn.example/a/index.json", body: agentSkills("a") } };
  const { skills } = await read("example.com", web);
  expect(skills[0]?.content).toMatchObject({ url: "https://cdn.example/a/a.tar.gz" });
});

test("a SKILL.md and an archive are sources of one skill", async () => {
  const address = `${site}/skills/rows/SKILL.md`;
  const unnamed = { [address]: { body: "---\nlicense: MIT\n---\n" } };
  expect((await read(address, unnamed)).skills).toEqual([{ name: "rows", description: "", content: { type: "skill-md", url: address } }]); // prettier-ignore
  const named = { [address]: { body: '---\nname: other\ndescription: "Says\\u0007."\n---\n' } };
  expect((await read(address, named)).skills[0]).toMatchObject({ name: "other", description: "Says ." });
  const archive = await read("https://example.com/dl/rows-clean-1.2.0.tar.gz", {});
  expect(archive.skills).toMatchObject([{ name: "rows-clean", content: { type: "archive" } }]);
  await expect(read("https://example.com/Rows%20Clean.zip", {})).rejects.toMatchObject({ code: "SOURCE_INVALID" });
});

test("marketplaces and repositories are read by others", async () => {
  const index: RemoteIndex = { source: parseSource("example.com"), form: "marketplace", skills: [], problems: [] };
  const web = { [`${site}/.claude-plugin/marketplace.json`]: { body: { plugins: [1] } } };
  const seen: unknown[] = [];
  const reading = {
    fetcher: fakeFetcher(web),
    signal,
    git: () =>
      Promise.resolve({
        readMarketplace: (...given: readonly unknown[]) => (seen.push(given.slice(1, 3)), Promise.resolve(index)),
        readIndex: (...given: readonly unknown[]) => (seen.push(given[1]), Promise.resolve("unchanged" as const)),
      }),
  };
  expect(await readSource(parseSource("example.com"), reading)).toBe(index);
  expect(await readSource(parseSource("acme/skills"), { ...reading, commit: "c" })).toBe("unchanged");
  expect(seen).toEqual([[{ plugins: [1] }, `${site}/.claude-plugin/marketplace.json`], { signal, commit: "c" }]);
});

test("nothing is read again while no document has changed", async () => {
  const web = {
    [`${known}/skill-sharing`]: { body: sharing(entry("a")), headers: { etag: '"s"' } },
    [`${known}/agent-skills/index.json`]: { body: agentSkills("b"), headers: { etag: '"a"' } },
  };
  const source = parseSource("example.com");
  const { etags = {} } = await read("example.com", web);
  const again = fakeFetcher(web);
  expect(await readSource(source, { fetcher: again, git, signal, etags })).toBe("unchanged");
  expect(again.asked).toEqual(Object.keys(web));
  const changed = { ...web, [`${known}/skill-sharing`]: { body: sharing(entry("c")), headers: { etag: '"t"' } } };
  const other = fakeFetcher(changed);
  const index = await readSource(source, { fetcher: other, git, signal, etags });
  expect(index === "unchanged" ? [] : namesOf(index)).toEqual(["b", "c"]);
  expect(other.asked.filter((url) => url.endsWith("skill-sharing"))).toHaveLength(1);
});

test("a reading that is cancelled ends with the reason", async () => {
  const reason = new Error("enough");
  const fetcher = fakeFetcher({});
  await expect(
    readSource(parseSource("example.com"), { fetcher, git, signal: AbortSignal.abort(reason) }),
  ).rejects.toBe(reason);
});
