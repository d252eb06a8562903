import fc from "fast-check";
import { expect, test } from "vitest";
import { type ListedSkill, cutDescriptions } from "../../../../src/browser/server/api/budget.ts";

function skill(id: string, description: number, name = 10): ListedSkill {
  return { id, name, description };
}

test("without limits nothing is cut", () => {
  expect(cutDescriptions([skill("a", 5_000)], { omits: true })).toEqual({ truncated: [], omitted: [] });
});

test("a description above the limit of one is cut, one at the limit is not", () => {
  const skills = [skill("at", 100), skill("above", 101)];
  expect(cutDescriptions(skills, { description: 100, omits: false }).truncated).toEqual(["above"]);
});

test("if all together are too long, the long ones are cut and the short ones stay", () => {
  const skills = [skill("short", 20), skill("long", 500), skill("longer", 900)];
  expect(cutDescriptions(skills, { total: 30 + 20 + 1_000, omits: false }).truncated).toEqual(["longer"]);
  expect(cutDescriptions(skills, { total: 30 + 20 + 600, omits: false }).truncated).toEqual(["long", "longer"]);
});

test("where names alone are too long, the last ones are left out, and every description is cut", () => {
  const skills = [skill("a", 5), skill("b", 5), skill("c", 5)];
  expect(cutDescriptions(skills, { total: 20, omits: true })).toEqual({ truncated: ["a", "b"], omitted: ["c"] });
  expect(cutDescriptions(skills, { total: 20, omits: false })).toEqual({ truncated: ["a", "b", "c"], omitted: [] });
});

test("what is not cut fits, and a limit that all fit cuts nothing", () => {
  const lists = fc.array(fc.record({ name: fc.nat(64), description: fc.integer({ min: 1, max: 1_024 }) }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(lists, fc.nat(20_000), (sizes, total) => {
      const skills = sizes.map((size, at) => ({ id: String(at), ...size }));
      const { truncated } = cutDescriptions(skills, { total, omits: false });
      const all = skills.reduce((sum, { name, description }) => sum + name + description, 0);
      if (all <= total) expect(truncated).toEqual([]);
      else expect(truncated.length).toBeGreaterThan(0);
      const whole = skills.filter(({ id }) => !truncated.includes(id));
      const kept = whole.reduce((sum, { description }) => sum + description, 0);
      expect(kept).toBeLessThanOrEqual(Math.max(0, total));
    }),
  );
});
