import { expect, test } from "vitest";
import { jsonReporter } from "../../../../../src/cli/commands/check/reporters/json.ts";
import { exampleContext, exampleReport } from "./example-report.ts";

const { counts } = exampleReport;

test("prints one JSON value with one problem per line", () => {
  const text = [...jsonReporter(exampleReport, exampleContext)].join("");
  expect(JSON.parse(text)).toEqual({ problems: exampleReport.problems, checked: 2, fixed: [], fixable: 1, counts });
  expect(text.split("\n")).toHaveLength(5);
});

test("prints the keys of a problem in a fixed order", () => {
  const [problem] = exampleReport.problems;
  const turned = Object.fromEntries(Object.entries(problem ?? {}).reverse()) as NonNullable<typeof problem>;
  const one = [...jsonReporter({ ...exampleReport, problems: [turned] }, exampleContext)].join("");
  expect(one.split("\n")[1]).toBe(
    '{"code":"name-not-lowercase","severity":"error","file":"/project/skills/foo/SKILL.md","line":2,"column":7,"endLine":2,"endColumn":10,"message":"name `Foo` contains uppercase letters","fix":"Rename it to `foo`."}',
  );
});

test("prints all fields of an empty report", () => {
  const text = [...jsonReporter({ ...exampleReport, problems: [], checked: 0, fixable: 0 }, exampleContext)].join("");
  expect(JSON.parse(text)).toEqual({ problems: [], checked: 0, fixed: [], fixable: 0, counts });
});

test("also escapes control characters that JSON permits", () => {
  const [problem] = exampleReport.problems;
  const hostile = { ...problem!, message: "\u009b31m\u202e" };
  const text = [...jsonReporter({ ...exampleReport, problems: [hostile] }, exampleContext)].join("");
  expect(text).toContain("\\u009b31m\\u202e");
});
