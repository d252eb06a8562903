import path from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { toPluginPath } from "../../../../src/sources/reader/marketplaces/marketplace.ts";

test.each([
  ["./", ""],
  [".", ""],
  [".//", ""],
  ["./plugins/pdf", "plugins/pdf"],
  ["./plugins/pdf/", "plugins/pdf"],
  ["plugins/pdf", "plugins/pdf"],
  ["pdf", "pdf"],
  ["./.github/x", ".github/x"],
  ["..", undefined],
  ["../x", undefined],
  ["./../x", undefined],
  ["./a/../../x", undefined],
  ["./a/../b", undefined],
  ["/", undefined],
  ["/etc", undefined],
  [".//etc", "etc"],
  ["./a//b", undefined],
  ["C:\\x", undefined],
  ["a\\..\\b", undefined],
  ["./a\0b", undefined],
  ["./.git", undefined],
  ["~", "~"],
])("%j is %j", (text, expected) => {
  expect(toPluginPath(text)).toBe(expected);
});

test("no path leaves the root", () => {
  const part = fc.constantFrom("..", ".", "/", "\\", "a", "b", " ", "~", ".git", "C:", "\0", "%2e%2e", "‥", "");
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(part, { maxLength: 8 }).map((parts) => parts.join("")),
        fc.string(),
      ),
      (text) => {
        const found = toPluginPath(text);
        if (found === undefined) return;
        for (const system of [path.posix, path.win32]) {
          const root = system.resolve("/root/of/it");
          expect(`${system.resolve(root, found)}${system.sep}`.startsWith(`${root}${system.sep}`)).toBe(true);
        }
        expect(toPluginPath(`./${found}`)).toBe(found);
      },
    ),
    { numRuns: 2_000 },
  );
});
