import { expect, test } from "vitest";
import fc from "fast-check";
import { isAvailableSkill } from "../../src/client/is-available-skill.ts";
import { availableSkillSchema } from "../../src/wire/available-skill.ts";

const ours = { name: "a.b", version: "1.0.0", kind: "action", namespace: "a", source: "/s", digest: "x" };
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
