import { afterEach, describe, expect, it } from "vitest";
import { typedFrontmatter } from "../../src/runtime/tools/describe_skill.ts";
import { type OpenMcpApp, openMcpApp } from "./open-mcp-app.ts";
import { type RawAnswer, modernRequest, rawRequest, speaksSkills } from "./raw-request.ts";

/**
 * The requirements of the published server scenarios for the Skills extension (SEP-2640: enumeration, manifest, directory), under
 * their ids. Like these, it discovers the skills, on two pages.
 */
const requirements = {
  capability: [
    "capability-declaration-inline",
    "capability-empty-object",
    "capability-commits-to-methods",
    "capability-directory-read-flag",
  ],
  list: [
    "skills-list-implemented",
    "skills-list-pagination",
    "skills-list-entry-atomic",
    "skills-list-cache-attributes",
    "names-should-be-unique",
  ],
  entries: [
    "entry-uri-required",
    "skill-uri-scheme",
    "authority-reg-name",
    "entry-frontmatter-required",
    "entry-uri-matches-frontmatter-name",
    "final-segment-equals-name",
    "name-naming-rules",
    "metadata-reserved-prefix",
    "entry-resources-required",
    "resources-complete",
    "resources-uri-within-skill",
    "resources-digest-format",
    "resources-size-required",
    "limit-resources-per-skill",
    "limit-total-size",
  ],
  get: [
    "skills-get-implemented",
    "skills-get-entry-shape",
    "skills-get-no-cursor",
    "skills-get-unknown-uri-invalid-params",
  ],
  manifest: [
    "skillmd-required",
    "skillmd-frontmatter",
    "entry-frontmatter-identical",
    "skillmd-mimetype",
    "skillmd-metadata-name",
    "skillmd-metadata-description",
    "meta-prefix",
  ],
  directory: [
    "directory-read-method-registered",
    "directory-read-result-resources-shape",
    "directory-read-subdir-mimetype",
    "directory-read-invalid-params",
    "directory-read-pagination",
  ],
} as const;

interface Entry {
  readonly uri: string;
  readonly frontmatter: Readonly<Record<string, unknown>>;
  readonly resources: readonly { readonly uri: string; readonly digest: string; readonly size: number }[];
}

interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly description?: string;
  readonly mimeType?: string;
}

type Ask = (...request: Parameters<typeof modernRequest>) => Promise<RawAnswer["message"]>;

const opened: OpenMcpApp[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map(({ server }) => server.close()));
});

const skillCount = 60;
const skills = Object.fromEntries(
  Array.from({ length: skillCount }, (_, index) => `skill-${index}`).flatMap((name) => [
    [`/skills/${name}/SKILL.md`, `---\nname: ${name}\ndescription: Does ${name}.\nmetadata:\n  team: "7"\n---\n# é\n`],
    [`/skills/${name}/references/a & b.md`, "More.\n"],
  ]),
);

async function open(): Promise<Ask> {
  const app = await openMcpApp(skills);
  opened.push(app);
  const address = await app.server.open(app.caller);
  return async (...request) => (await rawRequest(address, modernRequest(...request))).message;
}

async function listPages(ask: Ask, method = "skills/list"): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const pages: Readonly<Record<string, unknown>>[] = [];
  for (let cursor: unknown; pages.length < skillCount;) {
    const { result = {} } = await ask(method, cursor === undefined ? {} : { cursor });
    pages.push(result);
    cursor = result.nextCursor;
    if (cursor === undefined) return pages;
  }
  throw new Error("the list has no end");
}

const entriesOf = (pages: Awaited<ReturnType<typeof listPages>>): Entry[] =>
  pages.flatMap((page) => page.skills as Entry[]);
const directoryOf = (uri: string): string => uri.slice(0, -"/SKILL.md".length);

describe("the Skills extension, as its conformance scenarios ask", () => {
  it(requirements.capability.join(", "), async () => {
    const { result } = await (await open())("server/discover", {}, speaksSkills);
    expect(result?.capabilities).toMatchObject({
      resources: {},
      extensions: { "io.modelcontextprotocol/skills": { directoryRead: true } },
    });
  });

  it(requirements.list.join(", "), async () => {
    const pages = await listPages(await open());
    expect(pages).toHaveLength(2);
    for (const page of pages)
      expect(page).toMatchObject({ ttlMs: expect.any(Number) as number, cacheScope: "private" });
    expect(new Set(entriesOf(pages).map(({ uri }) => uri)).size).toBe(skillCount);
    expect(entriesOf(pages)).toHaveLength(skillCount);
  });

  it(requirements.entries.join(", "), async () => {
    for (const { uri, frontmatter, resources } of entriesOf(await listPages(await open()))) {
      const [, name = ""] = /^skill:\/\/([a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?)\/SKILL\.md$/.exec(uri) ?? [];
      expect(frontmatter).toEqual({ name, description: `Does ${name}.`, metadata: { team: "7" } });
      expect(resources.map((resource) => resource.uri)).toEqual([uri, `${directoryOf(uri)}/references/a%20%26%20b.md`]);
      for (const { digest, size } of resources) {
        expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
        expect(Number.isInteger(size) && size >= 0).toBe(true);
      }
    }
  });

  it(requirements.get.join(", "), async () => {
    const ask = await open();
    const [first] = entriesOf(await listPages(ask));
    const { result } = await ask("skills/get", { uri: first?.uri });
    expect(result?.skill).toEqual(first);
    expect(result).not.toHaveProperty("nextCursor");
    const { error } = await ask("skills/get", { uri: "skill://mcp-conformance-nonexistent-skill/SKILL.md" });
    expect(error?.code).toBe(-32602);
  });

  it(requirements.manifest.join(", "), async () => {
    const ask = await open();
    const [first] = entriesOf(await listPages(ask));
    const read = (await ask("resources/read", { uri: first?.uri })).result?.contents as { readonly text: string }[];
    expect(read).toEqual([{ uri: first?.uri, mimeType: "text/markdown", text: expect.any(String) as string }]);
    expect(typedFrontmatter(Buffer.from(read[0]?.text ?? ""))).toEqual(first?.frontmatter);
    const { result } = await ask("resources/list");
    const listed = (result?.resources as Resource[]).find(({ uri }) => uri === first?.uri);
    expect(listed).toEqual({
      uri: first?.uri,
      name: first?.frontmatter.name,
      description: first?.frontmatter.description,
      mimeType: "text/markdown",
    });
  });

  it("lists every SKILL.md as a resource, page by page", async () => {
    const ask = await open();
    const pages = await listPages(ask, "resources/list");
    expect(pages.map(({ resources }) => (resources as Resource[]).length)).toEqual([50, 10]);
    const uris = pages.flatMap(({ resources }) => resources as Resource[]).map(({ uri }) => uri);
    expect(uris).toEqual(entriesOf(await listPages(ask)).map(({ uri }) => uri));
    expect((await ask("resources/list", { cursor: "invented" })).error).toMatchObject({
      code: -32602,
      data: { code: "INVALID_CURSOR" },
    });
  });

  it(requirements.directory.join(", "), async () => {
    const ask = await open();
    const [{ uri } = { uri: "" }] = entriesOf(await listPages(ask));
    const { result } = await ask("resources/directory/read", { uri: directoryOf(uri) });
    expect(result?.resources).toMatchObject([
      { uri },
      { uri: `${directoryOf(uri)}/references`, mimeType: "inode/directory" },
    ]);
    expect(result).not.toHaveProperty("nextCursor");
    expect((await ask("resources/directory/read", { uri })).error?.code).toBe(-32602);
  });
});
