import { expect, test } from "vitest";
import { invalidInput, shown } from "../../src/base/invalid-input.ts";

test.each([
  [[1], "got an array."],
  [{ a: 1 }, "got an object."],
  [() => 1, "got a function."],
  ["text", 'got "text".'],
  [1, "got 1."],
  [undefined, "got nothing."],
])("the message quotes short values and names the type of others: %j", (value, words) => {
  const violation = { field: "/name", expected: "a string", actual: shown(value) };
  expect(invalidInput("list_skills", [violation]).message).toContain(`name: expected a string, ${words}`);
});
