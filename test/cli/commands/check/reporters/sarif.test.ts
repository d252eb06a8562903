import { expect, test } from "vitest";
import { sarifReporter } from "../../../../../src/cli/commands/check/reporters/sarif.ts";
import { exampleContext, exampleReport } from "./example-report.ts";

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
