import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonText, openSafeLines, safeLines, safeText } from "../../../src/cli/report/safe-text.ts";

test("makes escape sequences visible", () => {
  expect(safeText("\u001b[2Jgone\u0007 \u009b31mred \u007f")).toBe("\\u{1b}[2Jgone\\u{7} \\u{9b}31mred \\u{7f}");
});

test("turns line breaks and tabs into spaces", () => {
  expect(safeText("one\r\ntwo\nthree\tfour\u2028five")).toBe("one two three four five");
});

test("makes bidirectional control characters visible", () => {
  expect(safeText("user\u202etxt.exe")).toBe("user\\u{202e}txt.exe");
});

const obeyed = [
  "::set-output name=x::y",
  "  ::error file=a,line=1::pwned",
  "::stop-commands::x",
  "##[error]pwned",
  "x ##[set-output name=a]b",
  "##vso[task.setvariable variable=a]b",
  "done. ##VSO[build.addbuildtag]x",
  "##teamcity[buildStatus status='SUCCESS']",
];

test.each(obeyed)("escapes a CI workflow command: %s", (text) => {
  for (const made of [safeText(text), safeLines(`a\r\n${text}\n`), jsonText({ text }, 2)]) {
    expect(made).not.toMatch(/^\s*::[a-z]/im);
    expect(made).not.toMatch(/##\w*\[/);
  }
  expect(JSON.parse(jsonText({ text }))).toEqual({ text });
});

test("leaves text that only resembles a workflow command unchanged", () => {
  for (const text of ["## [Unreleased]", "a::b", ":::note", "see std::vec", "## Heading", "c##"])
    expect(safeText(text)).toBe(text);
});

test("escapes a workflow command that is printed in pieces", () => {
  fc.assert(
    fc.property(fc.constantFrom(...obeyed), fc.nat(40), fc.nat(40), (text, first, second) => {
      const [from, to] = [Math.min(first, second), Math.max(first, second)];
      let written = "";
      const { push, end } = openSafeLines((part) => (written += part));
      for (const piece of [`a\n${text.slice(0, from)}`, text.slice(from, to), text.slice(to)]) push(piece);
      end();
      expect(written).toBe(`a\n${safeText(text)}`);
    }),
  );
});

test("leaves ordinary text in any script unchanged", () => {
  expect(safeText("naïve 文字 👩‍👩‍👧 é")).toBe("naïve 文字 👩‍👩‍👧 é");
});

test("never returns a control character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(safeText(text)).not.toMatch(/[\p{Cc}\p{Cs}]/u);
    }),
  );
});
