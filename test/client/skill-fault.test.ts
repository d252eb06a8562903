import fc from "fast-check";
import { expect, test } from "vitest";
import { isAvailableSkill, skillFault } from "../../src/client/skill-fault.ts";
import { availableSkillSchema } from "../../src/wire/available-skill.ts";

const ours = {
  name: "a.b",
  version: "1.0.0",
  kind: "action",
  namespace: "a",
  source: "/s",
  digest: "x",
  environment: { status: "missing", missing: ["git"] },
  state: "blocked",
};
const whole = {
  name: "a-b",
  description: "Does it.",
  license: "MIT",
  compatibility: "Any.",
  allowedTools: ["Read"],
  _meta: { "acp-skills": ours, author: "me" },
  more: 1,
};

const odd = fc.oneof(
  fc.constantFrom<unknown>({ status: "met" }, { status: "maybe" }, { status: "met", missing: [1] }),
  fc.constantFrom(undefined, null, 1, true, "", " ", "a", "a--b", "A", "a-", {}, [], ["x"], [1], "x".repeat(65)),
  fc.constantFrom("é".repeat(500), "😀".repeat(500), "😀".repeat(501), "😀".repeat(1024), "x".repeat(1025)),
);

test("accepts the same values as the schema of AvailableSkill", () => {
  expect(isAvailableSkill(whole)).toBe(true);
  const broken = fc
    .tuple(fc.constantFrom(...Object.keys(whole), "acp-skills", ...Object.keys(ours)), odd)
    .map(([key, value]): unknown => {
      if (Object.hasOwn(ours, key) && key !== "name")
        return { ...whole, _meta: { "acp-skills": { ...ours, [key]: value } } };
      if (key === "acp-skills") return { ...whole, _meta: { "acp-skills": value } };
      return { ...whole, [key]: value };
    });
  fc.assert(
    fc.property(fc.oneof(broken, odd), (value) => {
      expect(isAvailableSkill(value)).toBe(availableSkillSchema.safeParse(value).success);
    }),
    { numRuns: 2_000 },
  );
});

test("says what is wrong and where", () => {
  expect(skillFault(whole)).toBeUndefined();
  expect(skillFault(null)).toEqual(["", "is not an object"]);
  expect(skillFault({ ...whole, name: "a--b" })).toEqual(["/name", expect.stringContaining("slug")]);
  expect(skillFault({ ...whole, description: " " })).toEqual(["/description", expect.stringContaining("1,024")]);
  expect(skillFault({ ...whole, license: 1 })).toEqual(["/license", "is not text"]);
  expect(skillFault({ ...whole, compatibility: "x".repeat(501) })?.[0]).toBe("/compatibility");
  expect(skillFault({ ...whole, allowedTools: "Read" })?.[0]).toBe("/allowedTools");
  expect(skillFault({ ...whole, _meta: 1 })?.[0]).toBe("/_meta");
  expect(skillFault({ ...whole, _meta: { "acp-skills": { ...ours, kind: "x" } } })?.[0]).toBe("/_meta/acp-skills");
});
