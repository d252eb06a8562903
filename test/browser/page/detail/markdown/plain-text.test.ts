import fc from "fast-check";
import { expect, test } from "vitest";
import { plainText } from "../../../../../src/browser/page/detail/markdown/plain-text.ts";

test("reads numbers and the names that texts about code need", () => {
  expect(plainText("&lt;a&gt; &amp;amp; &quot;&apos;&nbsp;&#65;&#x1F600;")).toBe("<a> &amp; \"'\u00a0A😀");
});

test("leaves other names, and what is no reference, as they are written", () => {
  for (const text of ["&copy;", "&lt", "& lt;", "&;", "&#;", "&#x;", "&unknown;", "a & b"])
    expect(plainText(text)).toBe(text);
});

test("puts a sign in the place of numbers that are no character", () => {
  for (const text of ["&#0;", "&#xD800;", "&#1114112;", "&#9999999;"]) expect(plainText(text)).toBe("\ufffd");
});

test("never throws, and makes no text longer", () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(0x1fffff), (text, code) => {
      const all = `${text}&#${code};&#x${code.toString(16)};`;
      expect(plainText(all).length).toBeLessThanOrEqual(all.length);
    }),
  );
});
