import fc from "fast-check";
import { expect, test } from "vitest";
import type { Artifact } from "../../../src/serve/publish/artifacts.ts";
import { toIndexDocument } from "../../../src/serve/publish/agent-skills.ts";
import type { Publication, PublishedSkill } from "../../../src/serve/publish/publication.ts";

const digest = `sha256:${"ab".repeat(32)}`;

function documentOf(description: string): { $schema: string; skills: { description: string }[] } {
  const published = { skill: { slug: "one", description } } as PublishedSkill;
  const publication: Publication = { skills: [published], bySlug: new Map([["one", published]]) };
  const artifact = { type: "archive", digest, name: { slug: "one", digestStart: "ab".repeat(16), type: "archive" } };
  return JSON.parse(toIndexDocument(publication, new Map([["one", artifact as Artifact]]), () => true)) as never;
}

test("names the schema that clients compare, and addresses relative to the index", () => {
  expect(documentOf("Does one.")).toEqual({
    $schema: "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
    skills: [{ name: "one", type: "archive", description: "Does one.", url: `one-${"ab".repeat(16)}.tar.gz`, digest }],
  });
});

test("shortens a description that clients would drop, never within a character", () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, maxLength: 1_100, size: "max", unit: fc.constantFrom("a", "é", "😀") }),
      (text) => {
        const [{ description } = { description: "" }] = documentOf(text).skills;
        expect(description.length).toBeLessThanOrEqual(1_024);
        expect(Buffer.from(description).toString()).toBe(description);
        if (text.length <= 1_024) expect(description).toBe(text);
        else expect(text.startsWith(description.slice(0, -1))).toBe(true);
      },
    ),
  );
});
