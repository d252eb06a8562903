import { expect, test } from "vitest";
import fc from "fast-check";
import { readField, readFormFields } from "../../../../../../src/browser/page/detail/runs/state/field-value.ts";
import type { SkillInput } from "../../../../../../src/browser/wire/skills.ts";
import { actionSkill, openRunner } from "../../../../../runtime/runs/open-runner.ts";
import { refusal } from "../../../../../runtime/tools/open-tools.ts";

test.each<[SkillInput, string, unknown]>([
  [{ type: "string" }, " a ", " a "],
  [{ type: "integer" }, " 12 ", 12],
  [{ type: "integer" }, "-0", 0],
  [{ type: "number" }, "1e3", 1000],
  [{ type: "number" }, ".5", 0.5],
  [{ type: "boolean" }, "false", false],
  [{ type: "object" }, '{"a": [1]}', { a: [1] }],
  [{ type: "array" }, "[null]", [null]],
  [{ type: "blob" }, "blob:0123", "blob:0123"],
  [{ type: "string", enum: ["a", "b"] }, "1", "b"],
  [{ type: "integer", enum: [5, 7] }, "0", 5],
])("%j reads %j", (input, draft, value) => {
  expect(readField("x", input, draft)).toEqual({ value });
});

test.each<[SkillInput, string, string]>([
  [{ type: "integer" }, "1.5", 'x: expected a whole number, got "1.5".'],
  [{ type: "integer" }, "9007199254740993", 'x: expected a whole number, got "9007199254740993".'],
  [{ type: "number" }, "1,5", 'x: expected a number, got "1,5".'],
  [{ type: "number" }, "Infinity", 'x: expected a number, got "Infinity".'],
  [{ type: "array" }, '{"a": 1}', "x: expected an array, got an object."],
  [{ type: "blob" }, "../etc", 'x: expected a blob id, as create_blob returns it, got "../etc".'],
  [{ type: "string", required: true }, "", "x is required: a string."],
])("%j says what is wrong with %j", (input, draft, problem) => {
  expect(readField("x", input, draft)).toEqual({ problem });
});

test("an empty field is not given, so that the default counts", () => {
  const inputs = { a: { type: "string", required: true, default: "x" }, b: { type: "integer" } } as const;
  expect(readFormFields(inputs, { a: "", b: " " })).toEqual({ args: {}, problems: new Map() });
});

test("names of fields that objects have by themselves are fields like others", () => {
  const inputs = JSON.parse('{"constructor": {"type": "string"}, "__proto__": {"type": "string"}}') as Record<
    string,
    SkillInput
  >;
  const { args } = readFormFields(inputs, JSON.parse('{"__proto__": "y"}') as Record<string, string>);
  expect(JSON.stringify(args)).toBe('{"__proto__":"y"}');
});

test("the words are those of execute_skill", async () => {
  const types = ["string", "integer", "number", "boolean", "object", "array", "blob"] as const;
  const manifest = `[inputs]\n${types.map((type) => `${type} = { type = "${type}", required = true }`).join("\n")}`;
  const { call } = await openRunner(actionSkill("a.b", manifest), () => {
    throw new Error("not to be run");
  });
  const { violations } = await refusal(call("execute_skill", { name: "a.b" }));
  const inputs = Object.fromEntries(types.map((type) => [type, { type, required: true }]));
  const { problems } = readFormFields(inputs, {});
  const told = violations as readonly { readonly field: string; readonly expected: string }[];
  expect([...problems.values()]).toEqual(
    told.map(({ field, expected }) => `${field.replace("/args/", "")} is required: ${expected}.`),
  );
});

test("JSON is parsed as by JSON.parse, and what is not JSON is said in the words of the browser", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      expect(readField("x", { type: "object" }, text)).toEqual({ value: JSON.parse(text) as unknown });
    }),
  );
  for (const text of ["[", "[1,]", '{"a" 1}', "{a: 1}", "{} {}", "[".repeat(200_000)])
    expect(readField("x", { type: "array" }, text).problem).toMatch(/^x is not JSON: ./);
});
