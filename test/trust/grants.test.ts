import { expect, test } from "vitest";
import { openGrants, parseGrant } from "../../src/trust/grants.ts";

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
])("%j grants %j", (text, expected) => {
  expect(parseGrant(text)).toEqual(expected);
});

test("nothing is granted that was not named, for a skill that was not named", () => {
  const grants = openGrants(["a.b:network", "c:secrets"]);
  expect(grants.missing("a.b", ["network", "secrets"])).toEqual(["secrets"]);
  expect(grants.missing("c", ["network", "secrets"])).toEqual(["network"]);
  expect(grants.missing("a.bc", ["network"])).toEqual(["network"]);
  expect(openGrants([]).missing("a.b", ["project-read"])).toEqual(["project-read"]);
});

test("a slug means the same skill as its dotted name, and leave to write includes leave to read", () => {
  const grants = openGrants(["a-b:project-write"]);
  expect(grants.missing("a.b", ["project-read", "project-write"])).toEqual([]);
  expect(openGrants(["a.b:project-read"]).missing("a-b", ["project-write"])).toEqual(["project-write"]);
});
