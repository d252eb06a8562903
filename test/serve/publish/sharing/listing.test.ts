import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type ListingQuery,
  createListings,
  maxEntries,
  selectPage,
} from "../../../../src/serve/publish/sharing/listing.ts";
import type { PublishedSkill } from "../../../../src/serve/publish/publication.ts";
import type { Skill } from "../../../../src/skills/skill.ts";
import { accessPolicies, capabilityTypes, skillIndex } from "../../../../src/wire/skill-sharing.ts";

function published(slug: string, facts: Partial<PublishedSkill> = {}): PublishedSkill {
  const skill = { name: slug, slug, version: "1.0.0", description: `Does ${slug}.` } as Skill;
  return { skill, id: `com.example.${slug}-v1`, type: "api", access: "public", ...facts };
}

const publish = (skills: readonly PublishedSkill[]) => ({
  skills,
  bySlug: new Map(skills.map((one) => [one.skill.slug, one])),
});
const publisher = () => ({ provider: { name: "Example" }, baseUrl: "https://example.com" });
const anyone = { view: "anonymous", discovers: ({ access }: PublishedSkill) => access !== "private" };
const everyone = { view: "all", discovers: () => true };

function* pagesOf(
  skills: readonly PublishedSkill[],
  query: ListingQuery,
  discovers: (one: PublishedSkill) => boolean,
): Generator<readonly string[]> {
  let cursor: string | undefined;
  do {
    const page = selectPage(skills, { ...query, ...(cursor !== undefined && { cursor }) }, discovers);
    yield page.skills.map(({ skill }) => skill.slug);
    cursor = page.next;
  } while (cursor !== undefined);
}

const catalog = fc
  .uniqueArray(
    fc.tuple(
      fc.stringMatching(/^[a-z0-9]{1,4}$/),
      fc.constantFrom(...capabilityTypes),
      fc.constantFrom(...accessPolicies),
    ),
    {
      selector: ([slug]) => slug,
      maxLength: 30,
    },
  )
  .map((rows) =>
    rows
      .map(([slug, type, access]) => published(slug, { type, access }))
      .sort((a, b) => (a.skill.slug < b.skill.slug ? -1 : 1)),
  );

describe("an index", () => {
  test("filtering and access commute, whatever the pages", () => {
    fc.assert(
      fc.property(
        catalog,
        fc.constantFrom(undefined, ...capabilityTypes, "other"),
        fc.integer({ min: 1, max: 40 }),
        (skills, type, size) => {
          const visible = skills.filter(anyone.discovers);
          const matching = skills.filter((one) => type === undefined || one.type === type);
          const both = visible.filter((one) => matching.includes(one)).map(({ skill }) => skill.slug);
          const query = { type, limit: String(size) };
          expect([...pagesOf(skills, query, anyone.discovers)].flat()).toEqual(both);
          expect([...pagesOf(visible, query, () => true)].flat()).toEqual(both);
          expect([...pagesOf(matching, { limit: String(size) }, anyone.discovers)].flat()).toEqual(both);
        },
      ),
    );
  });

  test("pages stay whole while skills come and go", () => {
    const skills = ["a", "b", "c", "d"].map((slug) => published(slug));
    const { next } = selectPage(skills, { limit: "2" }, () => true);
    const later = [published("a"), published("aa"), ...skills.slice(2), published("e")];
    const rest = selectPage(later, { limit: "9", ...(next !== undefined && { cursor: next }) }, () => true);
    expect(rest.skills.map(({ skill }) => skill.slug)).toEqual(["c", "d", "e"]);
  });

  test("of a large catalog has pages, which together hold every skill once", () => {
    const skills = Array.from({ length: 2 * maxEntries + 1 }, (_, at) => published(`s${String(at).padStart(5, "0")}`));
    const listings = createListings(() => now, publisher);
    const now = publish(skills);
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const text = Buffer.from(
        listings.page("index", cursor === undefined ? {} : { cursor }, everyone).body,
      ).toString();
      const page = skillIndex.parse(JSON.parse(text));
      expect(page.skills.length).toBeLessThanOrEqual(maxEntries);
      found.push(...page.skills.map(({ id }) => id));
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    expect(found).toEqual(skills.map(({ id }) => id));
  });

  test.each(["0", "-1", "1.5", "x", "", "1e3"])("a limit of %j is refused", (limit) => {
    expect(() => selectPage([], { limit }, () => true)).toThrow("limit must be a whole number from 1 to 1000");
  });

  test.each([
    "x",
    "",
    "YWZ0ZXIgLi4",
    Buffer.from("after a b").toString("base64url"),
    `${Buffer.from("after a").toString("base64url")}=`,
  ])("the cursor %j is refused", (cursor) => {
    expect(() => selectPage([], { cursor }, () => true)).toThrow("not one of this index");
  });

  test("is made once for each view, until something changes", () => {
    let now = publish([published("a"), published("b", { access: "private" })]);
    const listings = createListings(() => now, publisher);
    const [shown, whole] = [listings.page("index", {}, anyone), listings.page("index", {}, everyone)];
    expect(listings.page("index", {}, anyone)).toBe(shown);
    expect(shown.etag).not.toBe(whole.etag);
    expect(listings.page("index", { type: "x" }, anyone)).toBe(listings.page("index", { type: "y" }, anyone));
    now = publish([published("a")]);
    expect(listings.page("index", {}, anyone).etag).toBe(shown.etag);
    expect(listings.page("index", {}, everyone).etag).toBe(shown.etag);
  });
});
