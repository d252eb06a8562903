import { describe, expect, test } from "vitest";
import {
  githubReporter,
  jsonReporter,
  sarifReporter,
} from "../../../../../src/cli/commands/authoring/check/machine-readable.ts";
import { exampleContext, exampleReport } from "./example-report.ts";

describe("json", () => {
  const { counts } = exampleReport;

  test("prints one JSON value with one problem per line", () => {
    const text = [...jsonReporter(exampleReport, exampleContext)].join("");
    expect(JSON.parse(text)).toEqual({
      schemaVersion: 1,
      problems: exampleReport.problems,
      checked: 2,
      fixed: [],
      fixable: 1,
      counts,
    });
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
    expect(JSON.parse(text)).toEqual({ schemaVersion: 1, problems: [], checked: 0, fixed: [], fixable: 0, counts });
  });

  test("also escapes control characters that JSON permits", () => {
    const [problem] = exampleReport.problems;
    const hostile = { ...problem!, message: "\u009b31m\u202e" };
    const text = [...jsonReporter({ ...exampleReport, problems: [hostile] }, exampleContext)].join("");
    expect(text).toContain("\\u009b31m\\u202e");
  });
});

describe("github", () => {
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
});

describe("sarif", () => {
  test("lists each rule once and refers to files by relative URI", () => {
    const log: unknown = JSON.parse([...sarifReporter(exampleReport, exampleContext)].join(""));
    expect(log).toEqual({
      $schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
      version: "2.1.0",
      runs: [
        {
          tool: {
            driver: {
              name: "acp-skills",
              version: "1.2.3",
              rules: [
                { id: "field-unexpected", shortDescription: { text: "only standard fields at the top level" } },
                { id: "name-not-lowercase", shortDescription: { text: "name is lowercase" } },
              ],
            },
          },
          columnKind: "unicodeCodePoints",
          results: [
            {
              ruleId: "name-not-lowercase",
              ruleIndex: 1,
              level: "error",
              message: { text: "name `Foo` contains uppercase letters. Rename it to `foo`." },
              locations: [
                {
                  physicalLocation: {
                    artifactLocation: { uri: "skills/foo/SKILL.md", uriBaseId: "%SRCROOT%" },
                    region: { startLine: 2, startColumn: 7, endLine: 2, endColumn: 10 },
                  },
                },
              ],
            },
            {
              ruleId: "field-unexpected",
              ruleIndex: 0,
              level: "warning",
              message: { text: "100% of \u001b[31mred\n::error::injected. Remove it." },
              locations: [
                {
                  physicalLocation: {
                    artifactLocation: { uri: "file:///elsewhere/50%25,%20a:b/SKILL.md" },
                    region: { startLine: 3, startColumn: 14 },
                  },
                },
              ],
            },
          ],
        },
      ],
    });
  });
});
