import { expect, test } from "vitest";
import { createProblemLog, logPublishedProblems } from "../../../src/skills/skillset.ts";
import type { Problem } from "../../../src/skills/rules/problem.ts";
import type { OfferedSkill } from "../../../src/skills/skill.ts";

function problem(severity: Problem["severity"], file: string, code = "name-missing"): Problem {
  return { code, severity, file, line: 1, column: 1, message: "It is wrong", fix: "Correct it." };
}

function open() {
  const lines: string[] = [];
  return { lines, tell: createProblemLog((level, message) => lines.push(`${level} ${message}`)) };
}

test("logs errors as warnings, the rest as info, and unreadable directories first", () => {
  const { lines, tell } = open();
  tell([problem("warning", "/a"), problem("error", "/b"), problem("error", "/c", "unreadable")]);
  expect(lines).toEqual([
    "warning /c:1:1 unreadable: It is wrong. Correct it.",
    "warning /b:1:1 name-missing: It is wrong. Correct it.",
    "info /a:1:1 name-missing: It is wrong. Correct it.",
  ]);
});

test("logs a problem once, even if it moves in its file, and logs new problems", () => {
  const { lines, tell } = open();
  tell([problem("error", "/a")]);
  tell([{ ...problem("error", "/a"), line: 7 }, problem("error", "/b")]);
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain("/b:1:1");
});

test("logs 20 problems and the number of others, once", () => {
  const { lines, tell } = open();
  const many = Array.from({ length: 25 }, (_, index) => problem("error", `/${index}`));
  tell(many);
  tell([...many]);
  expect(lines).toHaveLength(21);
  expect(lines[20]).toBe("warning … and 5 more; see acp-skills check.");
});

test("a server's log has one line for all skills that stricter readers skip, and lines for what is not offered", async () => {
  const codes = ["name-directory-mismatch", "name-not-lowercase", "field-unexpected", "metadata-nested-value"];
  const skills = codes.map((code) => ({ problems: [problem("warning", `/${code}`, code)] }) as unknown as OfferedSkill);
  const problems = [...skills.flatMap((offered) => offered.problems), problem("error", "/b", "description-missing")];
  const lines: string[] = [];
  const snapshot = { skills, problems };
  const catalog = { snapshot, ready: Promise.resolve(snapshot), onChange: () => () => undefined };
  logPublishedProblems({ catalog, problems: [] }, (level, message) => lines.push(`${level} ${message}`));
  await catalog.ready;
  expect(lines).toEqual([
    "warning /b:1:1 description-missing: It is wrong. Correct it.",
    "info Stricter readers will skip 2 of 4 skills; acp-skills check says why.",
  ]);
});
