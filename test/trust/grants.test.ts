import { expect, test } from "vitest";
import { createGrants, parseGrant } from "../../src/trust/grants.ts";

test.each([
  ["a.b:network", { skill: "a.b", permissions: ["network"] }],
  [
    "a-b:secrets,project-read,project-write",
    { skill: "a-b", permissions: ["secrets", "project-read", "project-write"] },
  ],
  ["a.b", undefined],
  ["a.b:", undefined],
  [":network", undefined],
  ["a.b:everything", undefined],
  ["a.b:network,", undefined],
  ["A B:network", undefined],
  ["a.b: network", undefined],
])("parses the grant %j as %j", (text, expected) => {
  expect(parseGrant(text)).toEqual(expected);
});

test("grants only the named permissions to the named skill", () => {
  const grants = createGrants(["a.b:network", "c:secrets"]);
  expect(grants.missing("a.b", ["network", "secrets"])).toEqual(["secrets"]);
  expect(grants.missing("c", ["network", "secrets"])).toEqual(["network"]);
  expect(grants.missing("a.bc", ["network"])).toEqual(["network"]);
  expect(createGrants([]).missing("a.b", ["project-read"])).toEqual(["project-read"]);
});

test("treats a slug and a dotted name as the same skill, and includes project-read in project-write", () => {
  const grants = createGrants(["a-b:project-write"]);
  expect(grants.missing("a.b", ["project-read", "project-write"])).toEqual([]);
  expect(createGrants(["a.b:project-read"]).missing("a-b", ["project-write"])).toEqual(["project-write"]);
});

test("limits a skill to the combined requests of the versions in the first pin", () => {
  const grants = createGrants(["a.b:network,secrets,project-write"]);
  grants.pin("a.b", [
    { network: ["https://one"], secrets: ["ONE"], project: "none" },
    { network: ["https://two"], secrets: [], project: "read" },
  ]);
  grants.pin("a-b", [{ network: ["https://three"], secrets: ["TWO"], project: "write" }]);
  expect(grants.beyond("a-b", { network: ["https://one", "https://two"], secrets: ["ONE"], project: "read" })).toEqual(
    [],
  );
  expect(grants.beyond("a.b", { network: ["https://three"], secrets: ["TWO"], project: "write" })).toEqual([
    "the host https://three",
    "the secret TWO",
    "write access to the project",
  ]);
  const asked = { network: ["https://one"], secrets: [], project: "none" } as const;
  expect(grants.beyond("never.pinned", asked)).toEqual([]);
  expect(grants.beyond("never.pinned", { ...asked, project: "read" })).toEqual(["read access to the project"]);
});
