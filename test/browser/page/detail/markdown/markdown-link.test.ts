import { expect, test } from "vitest";
import fc from "fast-check";
import { linkTarget, plainText } from "../../../../../src/browser/page/detail/markdown/markdown-link.tsx";

const files = new Set(["references/guide.md", "SKILL.md", "a b.txt"]);

test.each([
  ["https://example.com/a", "example.com"],
  ["HTTP://EXAMPLE.com:8080", "example.com:8080"],
  // A Cyrillic letter: the host that would be asked is not the one it looks like.
  ["https://gіthub.com", "xn--gthub-n2e.com"],
  ["https://example.com%2f@evil.example".replace("%2f@", "."), "example.com.evil.example"],
])("%s leads to the host %s", (address, host) => {
  expect(linkTarget(address, files)).toMatchObject({ kind: "web", host });
});

test.each([
  ["references/guide.md", "references/guide.md"],
  ["./references/../references//guide.md#part?x", "references/guide.md"],
  ["a%20b.txt", "a b.txt"],
])("%s leads to a file of the skill", (address, path) => {
  expect(linkTarget(address, files)).toEqual({ kind: "file", path });
});

test.each([
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  " \u0001javascript:alert(1)",
  "java\nscript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "vbscript:x",
  "blob:https://example.com/1",
  "file:///etc/passwd",
  "mailto:a@example.com",
  "https://github.com@evil.example/",
  "https://user:secret@example.com",
  "https://",
  "//evil.example/SKILL.md",
  "/SKILL.md",
  "..",
  "../SKILL.md",
  "references/../../SKILL.md",
  "%2e%2e/SKILL.md",
  "..\\SKILL.md",
  "%zz",
  "#part",
  "",
  "missing.md",
])("%j leads nowhere", (address) => {
  expect(linkTarget(address, files)).toEqual({ kind: "shown", address });
});

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
