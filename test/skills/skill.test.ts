import fc from "fast-check";
import { expect, test } from "vitest";
import { isSlug, isVersion, toSlug } from "../../src/skills/skill.ts";

test.each([
  ["pdf", "pdf"],
  ["salesforce.leads.sync", "salesforce-leads-sync"],
  ["PDF Tools", "pdf-tools"],
  ["pdf_tools", "pdf-tools"],
  ["--pdf--tools--", "pdf-tools"],
  ["Über Größe", "uber-gro-e"],
  ["Café", "cafe"],
  ["ﬁle", "file"],
  ["it's", "its"],
  ["技能 pdf", "pdf"],
  ["技能", undefined],
  ["", undefined],
  ["---", undefined],
  ["a".repeat(70), "a".repeat(64)],
  [`${"a".repeat(63)}-bcd`, "a".repeat(63)],
])("the slug of %j is %j", (name, slug) => {
  expect(toSlug(name)).toBe(slug);
});

test("toSlug returns a valid slug and is idempotent", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 90 }), (name) => {
      const slug = toSlug(name);
      if (slug === undefined) return;
      expect(isSlug(slug)).toBe(true);
      expect(toSlug(slug)).toBe(slug);
    }),
  );
  expect(isSlug("a--b")).toBe(false);
  expect(isSlug("a".repeat(65))).toBe(false);
});

test("directories are versions of a skill only by a complete version", () => {
  expect(["1.2.3", "1.0.0-rc.1", "0.0.1+build"].every(isVersion)).toBe(true);
  expect(["1.2", "v1.2.3", "a1.2.3", "1.2.3/", "1.2.3 "].some(isVersion)).toBe(false);
});
