import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type ChosenFacets,
  type SkillFacts,
  facetNames,
  facetsOf,
  matcherOf,
  matches,
  licenseFamilies,
} from "../../src/client/select.ts";

const skill = (facts: Partial<SkillFacts>): SkillFacts => ({ name: "a", description: "b", ...facts });

test("counts the values of every facet, most frequent first", () => {
  const facets = facetsOf([
    skill({ license: "MIT", kind: "action", allowedTools: ["Bash(git:*)", "Bash(npm run test)", "Read"] }),
    skill({ license: "MIT License", kind: "action", source: "/a", state: "blocked", namespace: "office" }),
    skill({ license: "Proprietary", environment: { status: "missing", missing: ["git"] } }),
  ]);
  const of = (value: string, count: number) => ({ value, count });
  expect(facets).toEqual({
    license: [of("MIT", 2), of("other", 1)],
    compatibility: [of("unspecified", 2), of("missing", 1)],
    tools: [of("unspecified", 2), of("Bash", 1), of("Read", 1)],
    namespace: [of("unspecified", 2), of("office", 1)],
    kind: [of("action", 2), of("unspecified", 1)],
    source: [of("unspecified", 2), of("/a", 1)],
    state: [of("ok", 2), of("blocked", 1)],
  });
});

test("keeps a chosen value of which nothing is left", () => {
  expect(facetsOf([], { kind: ["action"] }).kind).toEqual([{ value: "action", count: 0 }]);
});

const values = {
  license: fc.constantFrom("MIT", "Apache-2.0", undefined),
  kind: fc.constantFrom("instruction" as const, "action" as const, undefined),
  source: fc.constantFrom("/a", "/b", undefined),
  allowedTools: fc.constantFrom(["Read"], ["Read", "Bash"], undefined),
};
const someSkills = fc.array(fc.record(values).map(skill));
const someChoices: fc.Arbitrary<ChosenFacets> = fc.record(
  {
    license: fc.subarray(["MIT", "Apache", "unspecified"]),
    kind: fc.subarray(["instruction", "action"]),
    source: fc.subarray(["/a", "/c"]),
    tools: fc.subarray(["Read", "Bash", "Write"]),
  },
  { requiredKeys: [] },
);

test("counts what choosing one more value would show", () => {
  fc.assert(
    fc.property(someSkills, someChoices, (skills, chosen) => {
      const facets = facetsOf(skills, chosen);
      for (const name of facetNames)
        for (const { value, count } of facets[name])
          expect(count).toBe(skills.filter(matcherOf({ ...chosen, [name]: [value] })).length);
    }),
  );
});

test("several values of one facet mean any, several facets mean all", () => {
  const one = skill({ license: "MIT", kind: "action" });
  expect(matches(one, { license: ["Apache", "MIT"] })).toBe(true);
  expect(matches(one, { license: ["Apache", "MIT"], kind: ["instruction"] })).toBe(false);
  expect(matches(one, { license: [] })).toBe(true);
});

test.each([
  ["MIT", ["MIT"]],
  ["MIT OR Apache-2.0", ["MIT", "Apache"]],
  ["Apache License 2.0", ["Apache"]],
  ["GPLv3", ["GPL"]],
  ["LGPL-2.1-or-later", ["LGPL"]],
  ["CC0-1.0", ["CC"]],
  ["BSD-3-Clause license", ["BSD"]],
  ["0BSD", ["BSD"]],
  ["Proprietary. LICENSE.txt has complete terms", ["other"]],
  ["permitted", ["other"]],
  ["", ["unspecified"]],
  [undefined, ["unspecified"]],
])("%s is of the families %j", (license, families) => {
  expect(licenseFamilies(license)).toEqual(families);
});
