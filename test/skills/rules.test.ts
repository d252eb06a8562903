import { expect, test } from "vitest";
import { problemSchema } from "../../src/skills/rules/problem.ts";
import { type RuleCode, levels, rules, severityAt, toProblems } from "../../src/skills/rules.ts";

const codes = Object.keys(rules) as RuleCode[];
const finding = (code: RuleCode) => ({ code, file: "/s/SKILL.md", line: 1, column: 1, message: "m", fix: "f" });

test.each(levels)("at level %s every finding that is not off becomes a valid problem", (level) => {
  const problems = toProblems(codes.map(finding), level);
  expect(problems.map(({ code }) => code)).toEqual(codes.filter((code) => severityAt(code, level) !== "off"));
  for (const problem of problems) {
    expect(problemSchema.parse(problem)).toEqual(problem);
    expect(problem.severity).toBe(severityAt(problem.code as RuleCode, level));
  }
});

test("the lenient level is never stricter than the spec and wire levels combined", () => {
  for (const code of codes) {
    const { spec, wire, lenient } = rules[code];
    if (lenient === "error") expect([spec, wire]).toContain("error");
  }
});

test("a violated style rule does not prevent a skill from being offered", () => {
  const style = codes.filter((code) => /^name-(?!unusable)|too-long$|^field-|^metadata-|^yaml-/.test(code));
  const refused = style.filter((code) => rules[code].lenient === "error");
  expect(refused).toEqual(["frontmatter-too-long", "manifest-name-too-long"]);
});

test("settings override the severities of a level, except for allowed findings", () => {
  const found = [
    finding("name-missing"),
    finding("yaml-comment-in-value"),
    { ...finding("field-unexpected"), allowedAt: ["agents"] as const },
  ];
  const settings = { "name-missing": "off", "yaml-comment-in-value": "error", "field-unexpected": "error" } as const;
  const shown = toProblems(found, "agents", settings).map(({ code, severity }) => `${code} ${severity}`);
  expect(shown).toEqual(["yaml-comment-in-value error"]);
});
