import fc from "fast-check";
import { expect, test } from "vitest";
import { indexLimits } from "../../../../src/sources/reader/indexes/collect-skills.ts";
import { toSharedSlug } from "../../../../src/sources/reader/indexes/skill-sharing.ts";
import { readListing } from "./read-document.ts";

/** The index of the seed, 5.2. */
const seed = {
  protocol: { version: "1.0.0" },
  provider: { name: "Example Corp", url: "https://example.com" },
  skills: [
    {
      id: "com.example.translate-v1",
      name: "Universal Translator",
      capability_type: "api",
      description: "High-quality text translation service supporting 100+ languages",
      descriptor_url: "https://example.com/skills/translate/descriptor.json",
      access: "restricted",
      version: "2.1.0",
    },
    {
      id: "com.example.sentiment-v1",
      name: "Sentiment Analyzer",
      capability_type: "api",
      description: "Text sentiment analysis service",
      descriptor_url: "https://example.com/skills/sentiment/descriptor.json",
      access: "public",
      version: "1.0.0",
    },
  ],
};
const [entry] = seed.skills;

test("the index of the specification lists its skills, named after their ids", () => {
  expect(readListing(seed)).toEqual({
    form: "skill-sharing",
    problems: [],
    skills: [
      {
        name: "translate",
        description: "High-quality text translation service supporting 100+ languages",
        version: "2.1.0",
        id: "com.example.translate-v1",
        capabilityType: "api",
        access: "restricted",
        content: { type: "descriptor", url: "https://example.com/skills/translate/descriptor.json" },
      },
      expect.objectContaining({ name: "sentiment", access: "public" }),
    ],
  });
});

test("a registry answers a page, or the array alone", () => {
  const { skills } = readListing(seed);
  expect(readListing({ protocol: seed.protocol, skills: seed.skills })).toEqual({
    form: "registry",
    problems: [],
    skills,
  });
  expect(readListing(seed.skills)).toEqual({ form: "registry", problems: [], skills });
});

test("the next page is the same address with the cursor", () => {
  const page = { ...seed, next_cursor: "a+b" };
  expect(readListing(page, "https://example.com/skills?type=api&cursor=x")).toMatchObject({
    next: "https://example.com/skills?type=api&cursor=a%2Bb",
  });
  expect(readListing({ ...seed, next_cursor: null })).not.toHaveProperty("next");
});

test.each(["1", "1.9", "1.4.2-beta"])("version %s is read", (version) => {
  expect(readListing({ ...seed, protocol: { version } }).skills).toHaveLength(2);
});

test.each(["2.0.0", "0.9.0", "10.0.0", "", "one", 1, undefined])(
  "version %s is not, and both versions are named",
  (version) => {
    const { skills, problems } = readListing({ ...seed, protocol: { version } });
    expect(skills).toEqual([]);
    expect(problems).toEqual([
      expect.stringMatching(/^it says .* of Skill Sharing; this program reads version 1\.0\.0/),
    ]);
  },
);

test.each([
  [
    { ...entry, access: "secret" },
    'entry 1 (com.example.translate-v1): access: expected one of "public"|"restricted"|"private"',
  ],
  [{ ...entry, description: undefined }, "description: expected string, received undefined"],
  [{ ...entry, capability_type: "agent" }, "capability_type: expected one of"],
  [{ ...entry, descriptor_url: "javascript:alert(1)" }, "descriptor_url: a URL is neither http nor https"],
  [{ ...entry, descriptor_url: "http://example.com/x" }, "descriptor_url: a URL is http, in a document of https"],
  [{ ...entry, descriptor_url: "https://me:pw@example.com/x" }, "descriptor_url: a URL has user information"],
  [{ ...entry, descriptor_url: "https://127.0.0.1/x" }, "descriptor_url: a URL leads to this machine"],
  [
    { ...entry, descriptor_url: `https://example.com/${"x".repeat(2_048)}` },
    "descriptor_url: a URL is longer than 2048",
  ],
  [{ ...entry, id: "…", name: "。" }, "neither its id nor its name has a letter or digit"],
  [{ ...entry, id: `com.example.${"x".repeat(300)}` }, "id: more than 256 characters"],
  [null, "expected object, received null"],
  ["rows", "expected object, received string"],
])("a bad entry is reported, and the others stay: %j", (bad, why) => {
  const { skills, problems } = readListing({ ...seed, skills: [bad, ...seed.skills.slice(1)] });
  expect(skills.map(({ name }) => name)).toEqual(["sentiment"]);
  expect(problems).toEqual([expect.stringContaining(why)]);
});

test("of two entries with one name or id the first counts, and the second is reported", () => {
  const again = { ...entry, id: "org.example.translate-v2" };
  const sameId = { ...entry, description: "Another." };
  const { skills, problems } = readListing({ ...seed, skills: [entry, again, sameId] });
  expect(skills.map(({ id }) => id)).toEqual(["com.example.translate-v1"]);
  expect(problems).toEqual([
    "entry 2 (org.example.translate-v2): the name translate is listed twice; the first one is used",
    "entry 3 (com.example.translate-v1): the name translate is listed twice; the first one is used",
  ]);
});

test("a relative descriptor is resolved against the address that answered", () => {
  const page = { ...seed, skills: [{ ...entry, descriptor_url: "../d.json#x" }] };
  expect(readListing(page, "http://127.0.0.1:7331/a/b").skills[0]?.content).toEqual({
    type: "descriptor",
    url: "http://127.0.0.1:7331/d.json",
  });
});

test("texts are cleaned and cut", () => {
  const rude = { ...entry, description: `a\u001b[31m\u202e\n b\u200d${"c".repeat(5_000)}`, version: "1.0.0\u0000" };
  const [skill] = readListing({ ...seed, skills: [rude] }).skills;
  expect(skill?.description).toMatch(/^a \[31m b\u200dc+…$/);
  expect(skill?.description).toHaveLength(indexLimits.descriptionLength);
  expect(skill?.version).toBe("1.0.0");
});

test("entries above the limit are left out and reported", () => {
  const skills = Array.from({ length: indexLimits.entries + 5 }, (_, index) => ({
    ...entry,
    id: `com.example.s${index}`,
  }));
  const read = readListing({ ...seed, skills });
  expect(read.skills).toHaveLength(indexLimits.entries);
  expect(read.problems).toEqual(["10005 skills are listed; the first 10000 are read"]);
  const bad = readListing({ ...seed, skills: skills.map(() => ({})) });
  expect(bad.problems).toHaveLength(indexLimits.problems + 1);
  expect(bad.problems.at(-1)).toBe("9901 more problems");
});

test.each([
  [{ id: "com.example.rows-clean-v1", name: "Rows" }, "rows-clean"],
  [{ id: "com.example.rows-v2-v1", name: "Rows" }, "rows-v2"],
  [{ id: "io.github.user.code-review", name: "x" }, "code-review"],
  [{ id: "translate", name: "Universal  Übersetzer!" }, "universal-ubersetzer"],
  [{ id: "com.example.-v1", name: "v1" }, "v1"],
  [{ id: "x", name: "日本" }, undefined],
])("the name of %j is %s", (named, slug) => {
  expect(toSharedSlug(named)).toBe(slug);
});

test("whatever an entry is, the good ones are listed", () => {
  const good = Array.from({ length: 3 }, (_, index) => ({ ...entry, id: `com.example.good-${"abc"[index]}-v1` }));
  const odd = fc.oneof(
    fc.jsonValue(),
    fc.record({ id: fc.string(), name: fc.string(), description: fc.string(), descriptor_url: fc.string() }),
    fc.record(Object.fromEntries(Object.keys(entry!).map((key) => [key, fc.oneof(fc.string(), fc.webUrl(), fc.constantFrom("api", "public"))]))), // prettier-ignore
  );
  fc.assert(
    fc.property(fc.array(odd, { maxLength: 8 }), (entries) => {
      const mixed = [good[0], ...entries, good[1], ...entries, good[2]];
      const { skills, problems } = readListing({ ...seed, skills: mixed });
      const names = skills.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(["good-a", "good-b", "good-c"]));
      expect(new Set(names).size).toBe(names.length);
      expect(skills.length + problems.length).toBe(mixed.length);
    }),
    { numRuns: 300 },
  );
});
