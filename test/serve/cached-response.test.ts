import fc from "fast-check";
import { expect, test } from "vitest";
import { etagOf, matchesEtag } from "../../src/serve/cached-response.ts";

const tag = etagOf("body");

test("equal bytes have equal tags, others other ones", () => {
  expect(etagOf(Buffer.from("body"))).toBe(tag);
  expect(etagOf("bodies")).not.toBe(tag);
  expect(tag).toMatch(/^"[\w-]{27}"$/);
});

test.each([
  [tag, true],
  [`W/${tag}`, true],
  [`"a", ${tag}`, true],
  [`"a",W/${tag} , "b"`, true],
  [`"a,b", ${tag}`, true],
  ["*", true],
  [" * ", true],
  [undefined, false],
  ["", false],
  ['"*"', false],
  [tag.slice(1, -1), false],
  [`"a${tag.slice(1)}`, false],
  [`${"x".repeat(5_000)}${tag}`, false],
])("If-None-Match %j names the tag: %s", (given, expected) => {
  expect(matchesEtag(given, tag)).toBe(expected);
  expect(matchesEtag(given, `W/${tag}`)).toBe(expected);
});

test("a list of other tags never matches, one with the tag always does", () => {
  const other = fc.stringMatching(/^(?:W\/)?"[!#-~]{0,20}"$/).filter((one) => !one.endsWith(tag));
  fc.assert(
    fc.property(fc.array(other, { maxLength: 8 }), fc.nat(8), (others, at) => {
      expect(matchesEtag(others.join(", "), tag)).toBe(false);
      expect(matchesEtag(others.toSpliced(at, 0, tag).join(", "), tag)).toBe(true);
    }),
  );
});
