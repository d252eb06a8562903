import { expect, test } from "vitest";
import { githubReporter } from "../../../../../src/cli/commands/check/reporters/github.ts";
import { exampleContext, exampleReport } from "./example-report.ts";

test("prints each problem as one workflow command that cannot be broken out of", () => {
  expect([...githubReporter(exampleReport, exampleContext)].join("")).toBe(
    [
      "::error file=skills/foo/SKILL.md,line=2,col=7,endLine=2,endColumn=10,title=name-not-lowercase::name `Foo` contains uppercase letters. Rename it to `foo`.",
      "::warning file=/elsewhere/50%25%2C a%3Ab/SKILL.md,line=3,col=14,title=field-unexpected::100%25 of \\u{1b}[31mred ::error::injected. Remove it.",
      "",
    ].join("\n"),
  );
});

test("escapes control characters in file names", () => {
  const [problem] = exampleReport.problems;
  const report = {
    ...exampleReport,
    problems: problem === undefined ? [] : [{ ...problem, file: "/a\u001b[2J\u202eb" }],
  };
  expect([...githubReporter(report, exampleContext)].join("")).toContain("file=/a\\u{1b}[2J\\u{202e}b,");
});

test("annotates at most --max-problems problems, errors first, and counts the rest", () => {
  const problems = [...exampleReport.problems].reverse();
  const text = [...githubReporter({ ...exampleReport, problems }, { ...exampleContext, maxProblems: 1 })].join("");
  expect(text.split("\n").map((line) => line.split("::")[1]?.split(" ")[0])).toEqual(["error", "notice", undefined]);
  expect(text).toContain("… and 1 more problem; show more with --max-problems");
});
