import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { licenseTexts } from "../../../src/skills/licenses/license-texts.ts";
import { recogniseLicense } from "../../../src/skills/licenses/recognise-license.ts";

function read(file: string): string {
  return readFileSync(fileURLToPath(new URL(`../../fixtures/licenses/${file}`, import.meta.url)), "utf8");
}

/** Whole texts, and the paragraph of each that has the copyright line. */
const known = [
  ["MIT", read("detected-mit/LICENSE")],
  ["ISC", read("detected-isc/COPYING")],
  ["0BSD", read("detected-0bsd/LICENSE")],
  ["BSD-2-Clause", read("detected-bsd-2-clause/LICENSE.md")],
  ["BSD-3-Clause", read("detected-bsd-3-clause/LICENCE")],
  ["Unlicense", read("detected-unlicense/UNLICENSE")],
  ["Apache-2.0", readFileSync(fileURLToPath(new URL("../../../LICENSE", import.meta.url)), "utf8")],
] as const;

/** A text with the words of a license, in alphabetical order: the comparison counts words. */
function wordsOf(id: string, part: "least" | "most"): string {
  const license = licenseTexts().find((text) => text.id === id);
  return [...(license?.words ?? [])].map(([word, range]) => `${word} `.repeat(range[part])).join("");
}

function verdict(text: string): string | undefined {
  const likely = recogniseLicense(text);
  return likely?.isSame === true ? likely.id : undefined;
}

test("the 25 licenses that are compared", () => {
  expect(licenseTexts().map(({ id }) => id)).toEqual([
    ...["MIT", "MIT-0", "ISC", "0BSD", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "MPL-2.0", "GPL-2.0", "GPL-3.0"],
    ...["LGPL-2.1", "LGPL-3.0", "AGPL-3.0", "EPL-2.0", "BSL-1.0", "Unlicense", "CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0"],
    ...["CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "Zlib", "WTFPL", "Artistic-2.0", "EUPL-1.2"],
  ]);
});

describe.each(licenseTexts().map(({ id }) => id))("%s", (id) => {
  test("is recognized with and without its optional parts", () => {
    expect(recogniseLicense(wordsOf(id, "most"))).toEqual({ id, similarity: 1, isSame: true });
    expect(recogniseLicense(wordsOf(id, "least"))).toEqual({ id, similarity: 1, isSame: true });
  });

  test("is not recognized when a word turns a permission around", () => {
    for (const word of ["not", "noncommercial", "except", "prohibited"]) {
      expect(verdict(`${wordsOf(id, "most")} ${word}`)).toBeUndefined();
    }
  });
});

describe.each(known)("the text of %s", (id, text) => {
  test("is recognized", () => {
    expect(verdict(text)).toBe(id);
  });

  test("is recognized however it is wrapped, indented, commented and quoted", () => {
    const width = fc.integer({ min: 30, max: 400 });
    const margin = fc.constantFrom("", "    ", "# ", "// ", " * ", "> ", "\t");
    const quote = fc.constantFrom('"', "“", "``", "''");
    const lineEnd = fc.constantFrom("\n", "\r\n");
    fc.assert(
      fc.property(width, margin, quote, lineEnd, (columns, before, mark, end) => {
        const wrapped = text.split(/\n\s*\n/).map((paragraph) => wrap(paragraph, columns));
        const lines = wrapped.join("\n\n").replaceAll('"', mark).split("\n");
        expect(verdict(lines.map((line) => before + line).join(end))).toBe(id);
      }),
      { numRuns: 30 },
    );
  });

  test("is recognized whoever has the copyright, and in capital letters", () => {
    const name = fc.constantFrom(
      "Example, Inc.",
      "Jane Doe <jane@example.com>",
      "the Example authors and contributors",
    );
    const sign = fc.constantFrom("Copyright (c)", "Copyright ©", "(c)", "©", "Copyright");
    const year = fc.constantFrom("1999", "2001-2025", "2023, 2024", "2025-present");
    fc.assert(
      fc.property(name, sign, year, fc.integer({ min: 1, max: 4 }), (holder, mark, years, count) => {
        const statements = `${mark} ${years} ${holder}\n`.repeat(count);
        expect(verdict(`${statements}All rights reserved.\n\n${text}`)).toBe(id);
      }),
      { numRuns: 30 },
    );
    expect(verdict(text.toUpperCase())).toBe(id);
  });

  test("is not recognized with further terms", () => {
    for (const terms of [
      "The Software shall be used for Good, not Evil.",
      "For non-commercial use only.",
      "Without limiting other conditions in the License, the grant of rights will not include the right to sell the Software.",
    ]) {
      expect(verdict(`${text}\n\n${terms}`)).toBeUndefined();
      expect(verdict(`${terms}\n\n${text}`)).toBeUndefined();
      if (!text.includes("Copyright (c)")) continue;
      expect(
        verdict(text.replace("Copyright (c)", `Copyright (c) 2025 Example. ${terms}\nCopyright (c)`)),
      ).toBeUndefined();
    }
  });

  test("is not recognized in part", () => {
    expect(verdict(text.slice(0, text.length / 2))).toBeUndefined();
    expect(verdict(text.slice(text.length / 2))).toBeUndefined();
  });
});

test("other texts are no license, whatever words they have", () => {
  const vocabulary = licenseTexts().flatMap(({ words }) => [...words.keys()]);
  const texts = fc.oneof(
    fc.string({ maxLength: 2000 }),
    fc.string({ unit: "grapheme", maxLength: 500 }),
    fc.array(fc.constantFrom(...vocabulary), { maxLength: 600 }).map((words) => words.join(" ")),
    fc.lorem({ maxCount: 300 }),
  );
  fc.assert(
    fc.property(texts, (text) => {
      expect(verdict(text)).toBeUndefined();
    }),
  );
});

test("a text that is near to a license is told with its similarity", () => {
  const likely = recogniseLicense(`${read("detected-mit/LICENSE")}\nThe Software shall be used for Good, not Evil.`);
  expect(likely).toMatchObject({ id: "MIT", isSame: false });
  expect(likely?.similarity).toBeGreaterThan(0.95);
  expect(likely?.similarity).toBeLessThan(1);
  expect(recogniseLicense("")).toBeUndefined();
});

function wrap(paragraph: string, columns: number): string {
  const lines: string[] = [];
  let line = "";
  for (const word of paragraph.split(/\s+/).filter((part) => part !== "")) {
    if (line !== "" && line.length + word.length >= columns) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join("\n");
}
