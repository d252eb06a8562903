import * as fc from "fast-check";
import { expect, test } from "vitest";
import { matchesGlob } from "../../../src/base/text/name-glob.ts";

const pattern = fc.string({ unit: fc.constantFrom("a", "b", ".", "*"), maxLength: 8 });
const text = fc.string({ unit: fc.constantFrom("a", "b", "."), maxLength: 8 });
const toRegExp = (glob: string): RegExp => new RegExp(`^${glob.replaceAll(".", "\\.").replaceAll("*", ".*")}$`);

test("a pattern matches what the regular expression with .* matches", () => {
  fc.assert(
    fc.property(pattern, text, (glob, name) => {
      expect(matchesGlob(glob, name)).toBe(toRegExp(glob).test(name));
    }),
    { numRuns: 2_000 },
  );
});

test("a pattern that matches another pattern matches all that the other one does", () => {
  fc.assert(
    fc.property(pattern, pattern, text, (wide, narrow, name) => {
      if (matchesGlob(wide, narrow) && matchesGlob(narrow, name)) expect(matchesGlob(wide, name)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});
