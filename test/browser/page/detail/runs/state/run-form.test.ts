import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { splitWords } from "../../../../../../src/browser/page/detail/runs/state/run-form.ts";
import { shellWord } from "../../../../../../src/base/text/quoted.ts";

/** The words that a real shell makes of each text, all in one process. */
function wordsOfShell(texts: readonly string[]): readonly (readonly string[])[] {
  const script = texts.map((text) => `printf '%s\\0' ${text}\nprintf 'END\\0'\n`).join("");
  const printed = execFileSync("sh", [], { input: script, encoding: "utf8" }).split("\0").slice(0, -1);
  const all: string[][] = [[]];
  for (const word of printed) {
    if (word === "END") all.push([]);
    else all.at(-1)?.push(word);
  }
  return all.slice(0, -1);
}

test("texts are split as a real shell splits them", () => {
  // Without what a shell expands; it begins with a word, because printf without one prints an empty one.
  const piece = fc.constantFrom(
    "a",
    "b c",
    " ",
    "\t",
    "'x y'",
    '"x y"',
    "''",
    '""',
    "\\ ",
    "\\'",
    '\\"',
    "\\\\",
    "-",
    "=",
  );
  const quoted = fc.constantFrom("a", " ", "'", '\\"', "\\\\", "\\a", "\\$", "\\`", "\\\n", "\n");
  const doubleQuoted = fc.array(quoted).map((parts) => `"${parts.join("")}"`);
  const text = fc.array(fc.oneof(piece, doubleQuoted)).map((parts) => `w${parts.join("")}`);
  const texts = fc.sample(text, 300);
  expect(texts.map((one) => splitWords(one).words)).toEqual(wordsOfShell(texts));
});

test("any words survive being quoted, in a real shell and here", () => {
  const word = fc.string({ unit: "grapheme" }).filter((one) => !one.includes("\0") && one !== "END");
  const lists = fc.sample(fc.array(word, { minLength: 1 }), 200);
  const lines = lists.map((words) => words.map(shellWord).join(" "));
  expect(wordsOfShell(lines)).toEqual(lists);
  expect(lines.map((line) => splitWords(line).words)).toEqual(lists);
});

test("nothing is expanded", () => {
  expect(splitWords("$HOME *.txt a|b `x` ~ # c").words).toEqual(["$HOME", "*.txt", "a|b", "`x`", "~", "#", "c"]);
});

const notClosed = "A quote is not closed, or a backslash has nothing after it to quote.";

test.each([
  ["a 'b", notClosed],
  ['a "b\\"', notClosed],
  ["a \\", notClosed],
  ["a ".repeat(257), "argv: expected at most 256 strings, got 257."],
])("%j is refused", (text, problem) => {
  expect(splitWords(text)).toEqual({ problem });
});
