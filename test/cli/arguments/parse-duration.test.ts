import { expect, test } from "vitest";
import { parseDuration } from "../../../src/cli/arguments/parse-duration.ts";

test.each([
  ["10s", 10_000],
  ["500ms", 500],
  ["2m", 120_000],
  ["1.5s", 1500],
  ["30000", 30_000],
])("parses %s as %i milliseconds", (text, milliseconds) => {
  expect(parseDuration("--timeout", text)).toBe(milliseconds);
});

test.each(["abc", "0", "0s", "-1", "10 s", "10h", "1e3", "s", ""])("rejects %j with an example", (text) => {
  expect(() => parseDuration("--timeout", text)).toThrow(
    `--timeout needs a duration such as 10s, 500ms or 2m (a plain number is milliseconds), not ${text}`,
  );
});
