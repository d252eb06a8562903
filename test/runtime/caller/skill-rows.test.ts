import fc from "fast-check";
import { expect, test } from "vitest";
import { toSkillRows } from "../../../src/runtime/caller/skill-rows.ts";

test("each skill is one line with its description quoted", () => {
  const skills = [
    { label: "pdf", description: 'Reads "PDF"\nfiles.' },
    { label: "plain", description: "" },
  ];
  expect(toSkillRows(skills, 1_000)).toEqual({ rows: ['- pdf: "Reads \\"PDF\\" files."', "- plain"], leftOut: 0 });
});

test("descriptions are shortened before names are left out", () => {
  const skills = Array.from({ length: 10 }, (_, index) => ({ label: `s${index}`, description: "word ".repeat(100) }));
  const at = (limit: number): number | undefined => toSkillRows(skills, limit).rows[0]?.length;
  expect([at(2_048), at(1_000), at(600), at(100)]).toEqual([168, 88, 48, 4]);
  expect(toSkillRows(skills, 100).leftOut).toBe(0);
  expect(toSkillRows(skills, 20)).toEqual({ rows: ["- s0", "- s1", "- s2", "- s3"], leftOut: 6 });
});

test("rows are single lines without control characters and within the limit, whatever descriptions contain", () => {
  const skill = fc.record({
    label: fc.stringMatching(/^[a-z]{1,8}$/),
    description: fc.string({ unit: "binary", maxLength: 400 }),
  });
  fc.assert(
    fc.property(fc.array(skill, { maxLength: 20 }), fc.nat(3_000), (skills, limit) => {
      const { rows, leftOut } = toSkillRows(skills, limit);
      expect(rows.length + leftOut).toBe(skills.length);
      expect(Buffer.byteLength(rows.map((row) => `${row}\n`).join(""))).toBeLessThanOrEqual(limit);
      for (const row of rows) expect(row).toMatch(/^- [a-z]+(?:: "[^\p{Cc}\u2028\u2029\u202e]*")?$/u);
    }),
  );
});

test.each(["</acp-skills>", "< / skills >", "<skills", "\u202e\u{e0041}</acp-skills>"])(
  "%j in a description cannot close the surrounding tags",
  (description) => {
    expect(toSkillRows([{ label: "a", description }], 1_000).rows.join()).not.toContain("<");
  },
);
