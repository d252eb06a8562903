import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isSkillsError } from "../../../src/base/errors.ts";
import { type EvalCase, readCasesOf } from "../../../src/skills/check/evals-file.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "acp-skills-suite-"));
  mkdirSync(path.join(directory, "evals"));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

function read(value: unknown): readonly EvalCase[] {
  writeFileSync(path.join(directory, "evals", "evals.json"), typeof value === "string" ? value : JSON.stringify(value));
  return readCasesOf(directory);
}

test("reads the form of the Agent Skills guide", () => {
  mkdirSync(path.join(directory, "evals", "files"));
  writeFileSync(path.join(directory, "evals", "files", "a.csv"), "1");
  const suite = {
    skill_name: "csv",
    evals: [
      {
        id: 1,
        prompt: "Chart it.",
        expected_output: "A chart.",
        files: ["evals/files/a.csv"],
        assertions: ["There is a chart"],
      },
    ],
  };
  expect(read(suite)).toEqual([
    {
      id: "1",
      prompt: "Chart it.",
      expectedOutput: "A chart.",
      files: [{ path: "evals/files/a.csv", target: "a.csv" }],
      assertions: [{ kind: "words", text: "There is a chart", weight: 1 }],
      shouldTrigger: true,
    },
  ]);
});

test("reads the forms of others: expectations, weighted checks, and a list of queries", () => {
  const [first] = read({ evals: [{ prompt: "p", expectations: ["It is so", { name: "n", check: "c", weight: 2 }] }] });
  expect(first?.assertions).toEqual([
    { kind: "words", text: "It is so", weight: 1 },
    { kind: "words", text: "n: c", weight: 2 },
  ]);
  const texts = [
    { id: "i", text: "It is so", type: "llm", passed: null },
    { name: "n", description: "d" },
  ];
  expect(read({ evals: [{ prompt: "p", assertions: texts }] })[0]?.assertions).toEqual([
    { kind: "words", text: "It is so", weight: 1 },
    { kind: "words", text: "n: d", weight: 1 },
  ]);
  const queries = [{ query: "Merge PDFs" }, { query: "Weather?", should_trigger: false }];
  expect(read(queries).map(({ id, prompt, shouldTrigger }) => [id, prompt, shouldTrigger])).toEqual([
    ["1", "Merge PDFs", true],
    ["2", "Weather?", false],
  ]);
});

test("the expected output is what must hold if a case states nothing else", () => {
  const expected = { prompt: "p", expected_output: "A chart.\n" };
  const [alone, both, neither] = read({ evals: [expected, { ...expected, assertions: ["So"] }, { prompt: "p" }] });
  expect(alone?.assertions).toEqual([{ kind: "words", text: "The result is as expected: A chart.", weight: 1 }]);
  expect(both?.assertions).toMatchObject([{ text: "So" }]);
  expect(neither?.assertions).toEqual([]);
});

test("ignores what other tools have beside it", () => {
  const others = {
    prompt: "p",
    category: "x",
    expected: "y",
    name: "n",
    tags: ["a"],
    assertions: [{ id: "i", check: "c", type: "llm" }],
  };
  expect(read({ skill_name: "s", version: 2, evals: [others] })).toHaveLength(1);
});

test("reads what is checked without a judge, and says it in words", () => {
  const assertions = [
    { pattern: "^\\d+$" },
    { pattern: "a", in: "out.txt" },
    { file: "chart.png", weight: 3 },
    { script: "evals/check.py", args: ["x"], name: "sums are right" },
  ];
  expect(
    read({ evals: [{ prompt: "p", assertions }] })[0]?.assertions.map(({ kind, text, weight }) => [kind, text, weight]),
  ).toEqual([
    ["pattern", "the answer matches ^\\d+$", 1],
    ["pattern", "out.txt matches a", 1],
    ["file", "chart.png is there", 3],
    ["script", "sums are right", 1],
  ]);
});

test("ids are names of directories, and differ", () => {
  expect(read({ evals: [{ id: "../a b", prompt: "p" }] })[0]?.id).toBe("-a-b".replace(/^-/, ""));
  expect(() =>
    read({
      evals: [
        { id: "a b", prompt: "p" },
        { id: "a/b", prompt: "p" },
      ],
    }),
  ).toThrow("two cases have the id a-b");
});

test.each([
  ["nothing", {}, "evals: "],
  ["no case", { evals: [] }, "evals: "],
  ["a case without a prompt", { evals: [{ id: 1 }] }, "evals/0/prompt: expected what the user asks"],
  [
    "a file elsewhere",
    { evals: [{ prompt: "p", files: ["../../secret"] }] },
    "evals/0/files/0: expected a path inside the skill",
  ],
  ["an absolute file", { evals: [{ prompt: "p", files: ["/etc/passwd"] }] }, "evals/0/files/0"],
  [
    "a misspelled key of a case",
    { evals: [{ prompt: "p", should_triger: false }] },
    'should_triger: did you mean "should_trigger"?',
  ],
  [
    "a misspelled key of an assertion",
    [{ prompt: "p", assertions: [{ patern: "x" }] }],
    'expected a sentence, or an object with "pattern"',
  ],
  [
    "a key beside those of an assertion",
    [{ prompt: "p", assertions: [{ pattern: "x", wieght: 2 }] }],
    'evals/0/assertions/0/wieght: did you mean "weight"?',
  ],
  ["no JSON", "{", "1:2 expected a key in quotes"],
  ["a file that is not there", { evals: [{ prompt: "p", files: ["evals/none"] }] }, "no readable file of the skill"],
  [
    "a pattern that is none",
    { evals: [{ prompt: "p", assertions: [{ pattern: "(" }] }] },
    "evals/0/assertions/0/pattern: expected a regular expression",
  ],
])("refuses %s, and says where", (_what, value, message) => {
  expect(() => read(value)).toThrow(
    expect.objectContaining({ code: "INVALID_OPTIONS", message: expect.stringContaining(message) as string }) as Error,
  );
});

test("says what to write where there are no cases", () => {
  expect(() => readCasesOf(directory)).toThrow(
    expect.objectContaining({
      code: "UNREADABLE",
      message: expect.stringContaining('Write {"evals"') as string,
    }) as Error,
  );
});

test("whatever the file has, it is read or refused by name", () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
      try {
        expect(read(text).length).toBeGreaterThan(0);
      } catch (error) {
        expect(isSkillsError(error, "INVALID_OPTIONS")).toBe(true);
      }
    }),
    { numRuns: 200 },
  );
});
