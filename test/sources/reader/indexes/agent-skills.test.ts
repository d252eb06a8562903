import fc from "fast-check";
import { expect, test } from "vitest";
import { agentSkillsSchema } from "../../../../src/sources/reader/indexes/agent-skills.ts";
import { digest, readListing } from "./read-document.ts";

const address = "https://example.com/.well-known/agent-skills/index.json";
const archive = { name: "wrangler", type: "archive", description: "Builds.", url: "wrangler.tar.gz", digest };
const read = (skills: readonly unknown[]): ReturnType<typeof readListing> =>
  readListing({ $schema: agentSkillsSchema, skills }, address);

test("an index of version 0.2 lists artifacts with their digests", () => {
  const note = { name: "note", type: "skill-md", description: "Notes.", url: "https://cdn.example/n.md", digest, version: "1.2.0", x: 1 }; // prettier-ignore
  expect(read([archive, note])).toEqual({
    form: "agent-skills-0.2",
    problems: [],
    skills: [
      { name: "wrangler", description: "Builds.", content: { type: "archive", url: "https://example.com/.well-known/agent-skills/wrangler.tar.gz", digest } }, // prettier-ignore
      { name: "note", description: "Notes.", version: "1.2.0", content: { type: "skill-md", url: "https://cdn.example/n.md", digest } }, // prettier-ignore
    ],
  });
});

test.each([
  [{ name: "Wrangler" }, "name: expected 1 to 64 lower-case letters, digits and single hyphens"],
  [{ name: "a--b" }, "name: expected"],
  [{ name: "a".repeat(65) }, "name: expected"],
  [{ description: " \u200b" }, "description: expected a text"],
  [{ url: "" }, "url: expected a URL"],
  [{ url: "ftp://example.com/x" }, "url: a URL is neither http nor https"],
  [{ digest: digest.toUpperCase() }, "digest: expected sha256: and 64 hexadecimal digits"],
  [{ digest: undefined }, "digest: expected"],
])("an entry of version 0.2 with %j is left out alone", (change, why) => {
  const { skills, problems } = read([
    { ...archive, ...change },
    { ...archive, name: "other" },
  ]);
  expect(skills.map(({ name }) => name)).toEqual(["other"]);
  expect(problems).toEqual([expect.stringContaining(why)]);
});

test("an entry of a type that nobody knows yet is listed, with the reason why it cannot be used", () => {
  expect(read([{ ...archive, type: "oci-image" }]).skills[0]?.content).toEqual({
    type: "unusable",
    why: "its type is oci-image; this program reads skill-md and archive",
  });
});

test.each([
  [{ $schema: `${agentSkillsSchema}#` }, `$schema is ${agentSkillsSchema}#;`],
  [
    { $schema: "https://schemas.agentskills.io/discovery/0.3.0/schema.json" },
    "$schema is https://schemas.agentskills.io/discovery/0.3.0/schema.json;",
  ],
  // What some generators of sites write, with entries that have no digest.
  [{ $schema: "https://agentskills.io/schema/v0.2.0.json" }, "$schema is https://agentskills.io/schema/v0.2.0.json;"],
  [{ version: "0.3.0" }, "version is 0.3.0;"],
  [{ version: "1" }, "version is 1;"],
  [{ $schema: 5 }, "$schema is not a text;"],
])("an index that says %j is not read", (head, shown) => {
  const { skills, problems } = readListing({ ...head, skills: [archive] }, address);
  expect(skills).toEqual([]);
  expect(problems).toEqual([`${shown} expected the $schema ${agentSkillsSchema}, or version 0.1 without $schema`]);
});

const files = { name: "pdf", description: "Reads.", files: ["SKILL.md", "references/a b.md"] };
const first = "https://example.com/.well-known/skills/index.json";

test("an index of version 0.1 lists files beside it", () => {
  expect(readListing({ skills: [files] }, first)).toEqual({
    form: "agent-skills-0.1",
    problems: [],
    skills: [
      {
        name: "pdf",
        description: "Reads.",
        content: {
          type: "files",
          files: [
            { path: "SKILL.md", url: "https://example.com/.well-known/skills/pdf/SKILL.md" },
            { path: "references/a b.md", url: "https://example.com/.well-known/skills/pdf/references/a%20b.md" },
          ],
        },
      },
    ],
  });
});

test.each([
  [[], "files: expected the paths of its files"],
  ["SKILL.md", "files: expected the paths of its files"],
  [["README.md"], "files: SKILL.md is missing"],
  [["SKILL.md", "SKILL.md"], "files: a path is listed twice"],
  [["SKILL.md", "../x"], "files: expected relative paths"],
  [["SKILL.md", "a/../../x"], "files: expected relative paths"],
  [["SKILL.md", "/etc/passwd"], "files: expected relative paths"],
  [["SKILL.md", "a\\b"], "files: expected relative paths"],
  [["SKILL.md", "x?y"], "files: expected relative paths"],
  [["SKILL.md", "ä"], "files: expected relative paths"],
  [["SKILL.md", 5], "files: expected relative paths"],
  [
    ["SKILL.md", ...Array.from({ length: 1_000 }, (_, index) => `${index}`)],
    "files: 1001 are listed; the limit is 1000",
  ],
])("an entry of version 0.1 with bad files is left out alone: %j", (list, why) => {
  const { skills, problems } = readListing(
    {
      skills: [
        { ...files, files: list },
        { ...files, name: "b" },
      ],
    },
    first,
  );
  expect(skills.map(({ name }) => name)).toEqual(["b"]);
  expect(problems).toEqual([expect.stringContaining(why)]);
});

test("the draft of version 0.2 lists files with digests, or a package of them", () => {
  const list = [{ path: "SKILL.md", digest }, { path: "scripts/run.sh", digest }]; // prettier-ignore
  const entries = [
    { name: "a", description: "A.", digest, files: list },
    { name: "b", description: "B.", digest, files: list, package: { url: "b.tar.gz", digest } },
    { name: "c", description: "C.", type: "skill-md", url: "c/SKILL.md", digest },
    { name: "d", description: "D.", files: ["SKILL.md", { path: "x" }] },
  ];
  const { form, skills, problems } = readListing({ version: "0.2.0", skills: entries }, first);
  expect(form).toBe("agent-skills-0.2");
  const base = "https://example.com/.well-known/skills";
  expect(skills.map(({ content }) => content)).toEqual([
    { type: "files", files: list.map((file) => ({ ...file, url: `${base}/a/${file.path}` })) },
    { type: "archive", url: `${base}/b.tar.gz`, digest },
    { type: "skill-md", url: `${base}/c/SKILL.md`, digest },
  ]);
  expect(problems).toEqual(["entry 4 (d): files: expected a digest, sha256: and 64 hexadecimal digits, for each path"]);
});

test("no path of an entry leaves the directory of its skill", () => {
  const segment = fc.oneof(
    fc.constantFrom("..", ".", "", "%2e%2e", "a", "/", "\\", "..%2f"),
    fc.string({ maxLength: 5 }),
  );
  fc.assert(
    fc.property(fc.array(segment, { maxLength: 5 }), (segments) => {
      const list = ["SKILL.md", segments.join("/")];
      for (const { content } of readListing({ skills: [{ ...files, files: list }] }, first).skills) {
        if (content.type !== "files") throw new Error(content.type);
        for (const { url } of content.files)
          expect(new URL(url).href).toMatch(/^https:\/\/example\.com\/\.well-known\/skills\/pdf\/[^/]/);
      }
    }),
  );
});
