import fc from "fast-check";
import { expect, test } from "vitest";
import { openSearch } from "../../../src/client/select/search-skills.ts";
import type { SkillFacts } from "../../../src/client/select.ts";

const skills: readonly SkillFacts[] = [
  { name: "reports", description: "Writes PDF reports." },
  { name: "pdf", description: "Reads files." },
  { name: "to-pdf", description: "Converts." },
  { name: "sheets", description: "Spreadsheets.", canonicalName: "office.pdf.sheets" },
  { name: "kubernetes-deploy", description: "Deploys containers." },
];
const namesFor = (query: string, list = skills) => openSearch(list)(query).map(({ name }) => name);

test("returns the list itself for an empty query", () => {
  expect(openSearch(skills)("  ")).toBe(skills);
});

test("orders hits by where the word occurs: name, canonical name, description", () => {
  expect(namesFor("PDF")).toEqual(["pdf", "to-pdf", "sheets", "reports"]);
});

test("requires every word, anywhere", () => {
  expect(namesFor("files pdf")).toEqual(["pdf"]);
  expect(namesFor("pdf nothing")).toEqual([]);
});

test("puts a skill with exactly this name first and keeps the order of equal hits", () => {
  const list = ["code-review-plus", "code-review", "code-reviewer"].map((name) => ({ name, description: "code" }));
  expect(namesFor("code review", list)).toEqual(["code-review", "code-review-plus", "code-reviewer"]);
});

test("finds names in spite of a typo where there are few hits", () => {
  expect(namesFor("kubernets")).toEqual(["kubernetes-deploy"]);
  expect(namesFor("kubrenetes")).toEqual(["kubernetes-deploy"]);
  const many = Array.from({ length: 5 }, (_, index) => ({ name: `pdf-${index}`, description: "." }));
  expect(namesFor("pdf", [...many, { name: "pxdf", description: "." }])).toHaveLength(5);
});

test("finds letters of any alphabet in either composition", () => {
  const list = [{ name: "a", description: "Café über 数据分析 😀" }];
  for (const query of ["CAFÉ", "cafe\u0301", "ÜBER", "数据", "😀"]) expect(namesFor(query, list)).toEqual(["a"]);
});

test("gives the same answer typed letter by letter as at once", () => {
  const words = fc.constantFrom("pdf", "code", "co", "über", "de", "and", "x", "PDF");
  const arbitrary = fc.array(fc.record({ name: words, description: fc.array(words).map((list) => list.join(" ")) }));
  fc.assert(
    fc.property(arbitrary, fc.array(words), (list, typed) => {
      const query = typed.join(" ");
      const search = openSearch(list);
      for (let length = 0; length < query.length; length++) search(query.slice(0, length));
      expect(search(query)).toEqual(openSearch(list)(query));
    }),
  );
});

test("answers any query, however long", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (query) => {
      for (const skill of openSearch(skills)(query)) expect(skills).toContain(skill);
    }),
  );
  expect(namesFor("pdf ".repeat(100_000))).toEqual(["pdf", "to-pdf", "sheets", "reports"]);
});
