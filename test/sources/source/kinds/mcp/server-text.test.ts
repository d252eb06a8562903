import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseServerText, toCommandText } from "../../../../../src/sources/source/kinds/mcp/server-text.ts";

test.each<[string, readonly string[]]>([
  ["node server.js", ["node", "server.js"]],
  ["node  'my server.js' \"a b\"", ["node", "my server.js", "a b"]],
  ["x a'b c'd \"it's\"", ["x", "ab cd", "it's"]],
  ["x '' y", ["x", "", "y"]],
  ["C:\\tools\\x.exe \\n", ["C:\\tools\\x.exe", "\\n"]],
  ["x '$HOME;ls' \"*\" *", ["x", "$HOME;ls", "*", "*"]],
])("%s is these words", (text, words) => {
  expect(parseServerText(text)).toEqual({ words });
});

test.each([
  ["", "what follows mcp: is missing"],
  ["'' x", "names no program"],
  ["node 'x", "a quote is opened"],
  ['node "x', "a quote is opened"],
  ["node x | y", "started without a shell"],
  ["node $HOME/x", "started without a shell"],
  ["node x && rm y", "started without a shell"],
  ["TOKEN=hunter2 node x", "a variable before the command is not set without a shell"],
  ["ftp://example.com", "reached over http or https"],
  ["https://me:hunter2@example.com/mcp", "give a token with --token env:NAME"],
  ["https://example.com/mcp#x", "has no #REF"],
  ["https://", "the URL is not valid"],
  ["https://example.com/a b", "it contains blanks"],
])("%s is refused", (text, why) => {
  const found = parseServerText(text);
  expect(found).toEqual({ why: expect.stringContaining(why) as string });
  expect(JSON.stringify(found)).not.toContain("hunter2");
});

test("any words are the same words again", () => {
  const word = fc.string({ unit: fc.constantFrom("a", " ", "'", '"', "$", "|", "\\", "…", "-", "=") });
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 6 }), (rest) => {
      const words = ["program", ...rest];
      expect(parseServerText(toCommandText(words))).toEqual({ words });
    }),
    { numRuns: 1_000 },
  );
});
