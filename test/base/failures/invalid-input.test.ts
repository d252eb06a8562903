import { expect, test } from "vitest";
import { invalidInput, noSuchParameter, shown } from "../../../src/base/failures/invalid-input.ts";

test.each([
  [[1], "got an array."],
  [{ a: 1 }, "got an object."],
  [() => 1, "got a function."],
  ["text", 'got "text".'],
  [1, "got 1."],
  [null, "got null."],
])("the message quotes short values and names the type of others: %j", (value, words) => {
  const violation = { field: "/name", expected: "a string", actual: shown(value) };
  expect(invalidInput("list_skills", [violation]).message).toContain(`name: expected a string, ${words}`);
});

test("the message says that a missing parameter is required, and that an unknown one is unknown", () => {
  const violations = [
    { field: "/name", expected: "a string", actual: shown(undefined) },
    { field: "/args/tabel", expected: noSuchParameter, actual: 1 },
  ];
  expect(invalidInput("execute_skill", violations).message).toBe(
    "Invalid input to execute_skill. name is required: a string. Unknown parameter args/tabel.",
  );
});
