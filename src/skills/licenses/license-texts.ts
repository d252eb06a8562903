import { readFileSync } from "node:fs";

/** How often a word occurs in a license text: without and with its optional parts, such as the appendix of Apache-2.0. */
interface WordRange {
  readonly least: number;
  readonly most: number;
}

/** The words of one well-known license. */
export interface LicenseText {
  /** SPDX identifier; of the GNU licenses the one that says neither -only nor -or-later, because their texts do not either. */
  readonly id: string;
  readonly words: ReadonlyMap<string, WordRange>;
}

/**
 * Written by `.config/write-license-texts.js`. `words`: every word, ordered. `licenses`: the words of each, as the number of words
 * skipped, and how often it occurs (`.2`, `.0-1`) unless once.
 */
interface Data {
  readonly words: string;
  readonly licenses: Readonly<Record<string, string>>;
}

let texts: readonly LicenseText[] | undefined;

/** The well-known licenses, read from the package's data on the first call. */
export function licenseTexts(): readonly LicenseText[] {
  return (texts ??= decode(JSON.parse(readFileSync(new URL("./license-texts.json", import.meta.url), "utf8")) as Data));
}

function decode({ words, licenses }: Data): readonly LicenseText[] {
  const vocabulary = words.split(" ");
  return Object.entries(licenses).map(([id, entries]) => {
    let next = 0;
    const ranges = entries.split(" ").map((entry): [string, WordRange] => {
      const [skipped = "", count = "1"] = entry.split(".");
      const [least = "1", most = least] = count.split("-");
      const index = next + Number(skipped);
      next = index + 1;
      return [vocabulary[index] ?? "", { least: Number(least), most: Number(most) }];
    });
    return { id, words: new Map(ranges) };
  });
}
