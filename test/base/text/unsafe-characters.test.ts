import fc from "fast-check";
import { expect, test } from "vitest";
import { findInvisible, replaceInvisible, withoutTags } from "../../../src/base/text/unsafe-characters.ts";
import { parseSkill } from "../../../src/skills/manifest/parse-skill.ts";
import { readManifest } from "../../../src/skills/manifest/read-manifest.ts";

const directional = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

test("the table contains all default-ignorable code points, except directional marks, which are control characters", () => {
  const missing: string[] = [];
  for (let code = 0; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const character = String.fromCodePoint(code);
    if (!/\p{Default_Ignorable_Code_Point}/u.test(character) || directional.test(character)) continue;
    if (findInvisible(character) === undefined) missing.push(code.toString(16));
  }
  expect(missing).toEqual([]);
});

test.each([
  ["a family", "👨‍👩‍👧‍👦"],
  ["a technologist with a skin tone", "👩🏽‍💻 writes"],
  ["a flag", "🏳️‍🌈"],
  ["a heart on fire", "❤️‍🔥"],
  ["a symbol in emoji presentation", "⚠️ careful"],
  ["a symbol in text presentation", "☎︎ call"],
  ["a keycap", "1️⃣ first"],
  ["Persian", "می‌خواهم گزارش‌ها را بنویسم"],
  ["a Persian abbreviation", "۱۴۰۲ ه‍.ش"],
  ["Hindi", "क्‍ष और शक्‌ति"],
  ["Bengali", "র‍্যাব"],
  ["Malayalam", "അവന്‍"],
  ["Sinhala", "ශ්‍රී ලංකා"],
  ["Khmer", "សួស្តី\u200bពិភពលោក"],
  ["Thai", "สวัสดี\u200bชาวโลก"],
  ["Mongolian", "ᠮᠣᠩᠭᠣᠯ\u180eᠠ"],
  ["an ideographic variant in a name", "葛\u{e0100}城市"],
  ["braille", "⠁⠀⠃"],
])("allows invisible characters in %s", (_what, text) => {
  expect(findInvisible(text)).toBeUndefined();
});

test.each([
  ["a zero width space between Latin letters", "pass\u200bword"],
  ["a joiner between Latin letters", "a\u200db"],
  ["two joiners after one letter", "می\u200c\u200cخواهم"],
  ["a variation selector after a letter", "a\ufe0f"],
  ["a second variation selector after an emoji", "😀\ufe0f\ufe01"],
  ["a supplementary variation selector after an emoji", "😀\u{e0154}"],
  ["a word joiner", "a\u2060b"],
  ["a byte order mark", "a\ufeffb"],
  ["a soft hyphen", "soft\u00adware"],
  ["a Hangul filler", "\u3164"],
  ["tags after a flag", "🏴\u{e0067}\u{e007f}"],
])("finds %s", (_what, text) => {
  expect(findInvisible(text)).toBeDefined();
});

test("finds and removes a hidden message anywhere in a text", () => {
  const hidden = fc
    .array(fc.integer({ min: 0xe0000, max: 0xe007f }), { minLength: 1, maxLength: 20 })
    .map((codes) => String.fromCodePoint(...codes));
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), hidden, fc.string({ unit: "grapheme" }), (before, message, after) => {
      const text = before + message + after;
      expect(findInvisible(text)).toBeDefined();
      expect(withoutTags(text)).toBe(withoutTags(before) + withoutTags(after));
      expect(findInvisible(replaceInvisible(message, () => ""))).toBeUndefined();
    }),
  );
});

const parse = (frontmatter: string) =>
  parseSkill({
    directory: "/pdf",
    expectedName: "pdf",
    file: "/pdf/SKILL.md",
    head: Buffer.from(`---\nname: pdf\n${frontmatter}\n---\n`),
    whole: true,
  });

test.each([
  ["description: Reads pass\u200bword files.", "3:24", "U+200B (zero width space)"],
  ["description: x\nlicense: MIT\u2060", "4:13", "U+2060 (word joiner)"],
  ["description: x\ncompatibility: a\ufeff", "4:17", "U+FEFF (byte order mark)"],
  ["description: x\nmetadata:\n  author: m\u00ade", "5:12", "U+00AD (soft hyphen)"],
  ["description: x\ntags: [a, \u3164]", "4:11", "U+3164 (Hangul filler)"],
  ['description: "escaped \\u200b"', "3:14", "U+200B (zero width space)"],
])("reports the invisible character of %j at %s", (frontmatter, place, name) => {
  const { skill, findings } = parse(frontmatter);
  expect(skill).toBeDefined();
  const found = findings.filter(({ code }) => code === "invisible-characters");
  expect(found.map(({ line, column }) => `${line}:${column}`)).toEqual([place]);
  expect(found[0]?.message).toContain(`contains an invisible character: ${name}`);
  expect(found[0]?.fix).toContain("Remove it");
});

test.each([`Fine.\u{e0041}\u{e0042}`, `"Fine.\\U000E0041\\U000E0042"`])(
  "removes Unicode tags from a skill: %j",
  (value) => {
    const { skill, findings } = parse(`description: ${value}\nmetadata:\n  author: ${value}`);
    expect(skill?.description).toBe("Fine.");
    expect(skill?.metadata).toEqual({ author: "Fine." });
    expect(findings.map(({ code }) => code)).toEqual(["invisible-characters", "invisible-characters"]);
    expect(findings[0]?.message).toContain("2 invisible characters, the first U+E0041 (tag); Unicode tags are removed");
  },
);

test("treats a description of only tags as missing", () => {
  expect(parse(`description: \u{e0041}`).skill).toBeUndefined();
});

test("removes Unicode tags from all fields of a manifest", () => {
  const text = `name = "a.b"
version = "1.0.0"
description = "Fine.\u{e0041}"
kind = "instruction"

[inputs.table]
type = "string"
description = "A table.\\U000E0042"
`;
  const { manifest, findings } = readManifest(text, "/a/skill.toml");
  expect(manifest?.description).toBe("Fine.");
  expect(manifest?.inputs?.["table"]?.description).toBe("A table.");
  expect(findings.map(({ code, line }) => `${code} ${line}`)).toEqual([
    "invisible-characters 3",
    "invisible-characters 6",
  ]);
});
