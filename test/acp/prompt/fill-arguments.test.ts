import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fillArguments } from "../../../src/acp/prompt/fill-arguments.ts";

describe("placeholders", () => {
  test.each([
    ["Fix issue $ARGUMENTS.", '42 "high priority"', 'Fix issue 42 "high priority".'],
    ["Migrate $0 from $1 to $2.", "Search React Vue", "Migrate Search from React to Vue."],
    ["$ARGUMENTS[1] and $ARGUMENTS[0]", "a b", "b and a"],
    ["$ARGUMENTS", "", ""],
    ["[$0] [$1] [$2] [$ARGUMENTS[2]]", "a b", "[a] [b] [$2] [$ARGUMENTS[2]]"],
    ["[\\$0] [\\$ARGUMENTS]", "a", "[$0] [$ARGUMENTS]"],
    ["[\\$0] [\\$ARGUMENTS]", "", "[$0] [$ARGUMENTS]"],
    ["$HOME ${0} $(x) $0x $ARGUMENTSx $", "a", "$HOME ${0} $(x) $0x $ARGUMENTSx $"],
    ["=B5*(1+$B$1) and $AB$0", "a b", "=B5*(1+$B$1) and $AB$0"],
    ["src/$0/v$1", "a b", "src/a/vb"],
    ["$0 $1", "$1 $0", "$1 $0"],
    ["no placeholder", "a b", "no placeholder"],
  ])("%j with %j is %j", (instructions, words, expected) => {
    expect(fillArguments(instructions, words)).toBe(expected);
  });
});

describe("arguments are split like in a shell", () => {
  test.each([
    ['"search bar" React', ["search bar", "React"]],
    ["'a \"b\" c' d", ['a "b" c', "d"]],
    ["a\\ b c", ["a b", "c"]],
    ['--name="x y"z', ["--name=x yz"]],
    ['"a \\" b"', ['a " b']],
    ["don't stop", ["don't", "stop"]],
    ["a\n\tb", ["a", "b"]],
    ['"" b', ["", "b"]],
    ["日本 語", ["日本", "語"]],
    ["a \\", ["a", "\\"]],
  ])("%j", (words, parts) => {
    const placeholders = parts.map((_part, index) => `<$${index}>`).join("");
    expect(fillArguments(placeholders, words)).toBe(parts.map((part) => `<${part}>`).join(""));
  });
});

test("returns instructions without a dollar sign unchanged", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (instructions, words) => {
      fc.pre(!instructions.includes("$"));
      expect(fillArguments(instructions, words)).toBe(instructions);
    }),
  );
});

test("replaces $ARGUMENTS by the exact text of the user", () => {
  fc.assert(
    fc.property(fc.string(), (words) => {
      expect(fillArguments("<$ARGUMENTS>", words)).toBe(`<${words}>`);
    }),
  );
});

test("limits the text that many placeholders and a long argument can add", () => {
  const words = "x".repeat(300_000);
  const filled = fillArguments("$ARGUMENTS ".repeat(20_000), words);
  expect(filled.length).toBeLessThan(20_000 * 11 + 1024 * 1024);
  expect(filled).toContain(words);
});

test.each(['"', "'", "\\", '"a ', "a\"'", 'x\\"'])("fills in a very long text of %j", (part) => {
  expect(fillArguments("$0", part.repeat(2_000_000))).not.toBe("$0");
});
