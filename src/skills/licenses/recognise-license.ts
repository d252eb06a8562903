import { type WordCounts, comparableWords, countWords } from "./license-words.ts";
import { type LicenseText, licenseTexts } from "./license-texts.ts";

/** The well-known license whose words are most like those of a text. */
export interface LikelyLicense {
  /** SPDX identifier; `GPL-3.0` where nothing says whether later versions may be chosen. */
  readonly id: string;
  /** 1: the same words. */
  readonly similarity: number;
  /** Whether it is that license. Otherwise it is only the nearest one. */
  readonly isSame: boolean;
}

/** Below this, texts have little in common but the language. */
const leastToName = 0.8;
const leastSimilarity = 0.95;
/** Different words in a long text: more than an address, a date and a name are other terms. */
const mostDifferences = 12;

/** Words that turn a permission into something else. Each must occur as often as in the license. */
const decisive = new Set(
  (
    "not no non nor never without except exception unless only must shall may cannot prohibited forbidden " +
    "commercial noncommercial evil military nuclear noderivatives sharealike advertising acknowledgment"
  ).split(" "),
);

/** The license that a text is, or is nearest to; undefined if it is like none of the well-known ones. Pure. */
export function recogniseLicense(text: string): LikelyLicense | undefined {
  const words = comparableWords(text);
  const counts = countWords(words);
  let best: LikelyLicense | undefined;
  for (const license of licenseTexts()) {
    const likely = compare(counts, words.length, license);
    if (likely.similarity > (best?.similarity ?? leastToName)) best = likely;
  }
  return best;
}

function compare(counts: WordCounts, length: number, { id, words }: LicenseText): LikelyLicense {
  let differences = 0;
  let wanted = 0;
  let isDecided = true;
  for (const [word, { least, most }] of words) {
    const count = counts.get(word) ?? 0;
    const missing = Math.max(0, least - count);
    const surplus = Math.max(0, count - most);
    wanted += count + missing - surplus;
    differences += missing + surplus;
    if (missing + surplus > 0 && decisive.has(word)) isDecided = false;
  }
  for (const [word, count] of counts) {
    if (words.has(word)) continue;
    differences += count;
    if (decisive.has(word)) isDecided = false;
  }
  const similarity = length + wanted === 0 ? 0 : 1 - differences / (length + wanted);
  const isSame = isDecided && differences <= mostDifferences && similarity >= leastSimilarity;
  return { id, similarity, isSame };
}
