import fc from "fast-check";
import { expect, test } from "vitest";
import { isSkillsError } from "../../../src/base/errors.ts";
import { readDocument } from "./indexes/read-document.ts";

test.each([
  ["<!doctype html>", { why: "it is not JSON" }],
  ["", { why: "it is not JSON" }],
  ['"skills"', { why: "it is neither an object nor an array" }],
  ["{}", { why: "it lists no skills" }],
  ["[]", { form: "registry", skills: [], problems: [] }],
  ['{"skills":{}}', { form: "agent-skills-0.1", skills: [], problems: ["skills is not an array"] }],
  ['{"protocol":{"version":"1.0.0"}}', { form: "registry", skills: [], problems: ["skills is not an array"] }],
  ['{"plugins":[]}', { form: "marketplace", json: { plugins: [] } }],
])("%s is recognised by what is in it", (text, document) => {
  expect(readDocument(text)).toEqual(document);
});

test("no JSON breaks the reader", () => {
  const keys = fc.constantFrom("skills", "protocol", "$schema", "version", "plugins", "provider", "files", "name");
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.dictionary(keys, fc.jsonValue())), (document) => {
      expect(readDocument(document)).toBeTypeOf("object");
    }),
  );
});

test("a descriptor that is not usable is thrown, not listed", () => {
  expect(() => readDocument({ capability_type: "api" })).toThrow(
    expect.toSatisfy((error: unknown) => isSkillsError(error) && error.code === "SOURCE_INVALID"),
  );
});
