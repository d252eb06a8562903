import fc from "fast-check";
import { expect, test } from "vitest";
import { readDocument } from "./indexes/read-document.ts";
import { SkillsError, isSkillsError } from "../../../src/base/errors.ts";
import { indexLimits } from "../../../src/sources/reader/indexes/collect-skills.ts";
import { readDescriptors } from "../../../src/sources/reader/read-listing.ts";
import { fakeFetcher } from "../fake-fetcher.ts";
import type { RemoteSkill } from "../../../src/sources/reader.ts";

test.each([
  ["<!doctype html>", { why: "it is not JSON" }],
  ["", { why: "it is not JSON" }],
  ['"skills"', { why: "it is neither an object nor an array" }],
  ["{}", { why: "it lists no skills" }],
  ["[]", { form: "registry", skills: [], problems: [] }],
  ['{"skills":{}}', { form: "agent-skills-0.1", skills: [], problems: ["skills is not an array"] }],
  ['{"protocol":{"version":"1.0.0"}}', { form: "registry", skills: [], problems: ["skills is not an array"] }],
  ['{"plugins":[]}', { form: "marketplace", json: { plugins: [] } }],
])("%s is recognised by what is in it", (text, document) => {
  expect(readDocument(text)).toEqual(document);
});

test("no JSON breaks the reader", () => {
  const keys = fc.constantFrom("skills", "protocol", "$schema", "version", "plugins", "provider", "files", "name");
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.dictionary(keys, fc.jsonValue())), (document) => {
      expect(readDocument(document)).toBeTypeOf("object");
    }),
  );
});

test("a descriptor that is not usable is thrown, not listed", () => {
  expect(() => readDocument({ capability_type: "api" })).toThrow(
    expect.toSatisfy((error: unknown) => isSkillsError(error) && error.code === "SOURCE_INVALID"),
  );
});

const { signal } = new AbortController();
const at = (name: string): string => `https://example.com/${name}/descriptor.json`;
const listed = (name: string): RemoteSkill => ({
  name,
  description: "Listed.",
  version: "1.0.0",
  id: `com.example.${name}-v1`,
  content: { type: "descriptor", url: at(name) },
});
const descriptor = (name: string, more: object = {}): object => ({
  protocol: { version: "1.0.0" },
  id: `com.example.${name}-v1`,
  name,
  version: "1.4.0",
  capability_type: "api",
  description: "Described.",
  provider: { name: "E" },
  endpoint: { url: "https://api.example.com/x", method: "POST" },
  inputs: {},
  output: {},
  auth: { type: "none" },
  access: "public",
  ...more,
});

test("descriptors say what to do with each skill; one that is not usable leaves the others alone", async () => {
  const fetcher = fakeFetcher({
    [at("good")]: { body: descriptor("good", { name: "Other" }) },
    [at("later")]: { body: descriptor("later", { protocol: { version: "3.0.0" } }) },
    [at("other")]: { body: descriptor("good") },
    [at("text")]: { body: "<html>" },
    [at("busy")]: new SkillsError("ENDPOINT_UNREACHABLE", "No connection."),
  });
  const plain: RemoteSkill = { name: "plain", description: "P.", content: { type: "skill-md", url: at("plain") } };
  const skills = [...["good", "later", "other", "text", "gone", "busy"].map(listed), plain];
  const read = await readDescriptors(skills, { fetcher, signal });
  expect(read.skills.map(({ name, version, content }) => [name, version, content.type])).toEqual([
    ["good", "1.4.0", "api"],
    ["later", "1.0.0", "unusable"],
    ["other", "1.0.0", "unusable"],
    ["text", "1.0.0", "unusable"],
    ["gone", "1.0.0", "unusable"],
    ["busy", "1.0.0", "descriptor"],
    ["plain", undefined, "skill-md"],
  ]);
  expect([...read.problems].sort()).toEqual([
    `busy: ${at("busy")}: No connection`,
    `gone: ${at("gone")} answered 404`,
    "later: the descriptor is not used: it says 3.0.0 of Skill Sharing; this program reads version 1.0.0 and other 1.x versions",
    `other: ${at("other")} describes another skill, com.example.good-v1`,
    `text: ${at("text")} is not JSON`,
  ]);
  expect(read.isPartial).toBe(true);
  expect(fetcher.requests[0]?.maxBytes).toBe(indexLimits.descriptorBytes);
});

test("descriptors above the limit are not asked for", async () => {
  const many = Array.from({ length: indexLimits.descriptors + 2 }, (_, index) => listed(`s${index}`));
  const fetcher = fakeFetcher({});
  const read = await readDescriptors(many, { fetcher, signal });
  expect(fetcher.asked).toHaveLength(indexLimits.descriptors);
  expect(read.skills.filter(({ content }) => content.type === "descriptor")).toHaveLength(2);
  expect(read.problems.at(-1)).toBe("1002 skills have descriptors; the first 1000 are read");
});
