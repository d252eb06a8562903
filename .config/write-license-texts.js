import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { countWords, comparableWords } from "../dist/skills/licenses/license-words.js";

/*
 * Writes src/skills/licenses/license-texts.json from the directory of the npm package spdx-license-list, which is no dependency because
 * it is 12 MB:
 *   npm pack spdx-license-list && tar xf spdx-license-list-*.tgz && npm run build && node .config/write-license-texts.js package
 */

/** The terms are between these words; a copy may leave out the rest, and add what `also` says. */
const gnuTerms = { until: "end of terms and conditions" };
const creativeCommons = { from: "by exercising the licensed rights", until: "creative commons is not party" };

/** @type {Record<string, { from?: string, until?: string, also?: string }>} */
const licenses = {
  MIT: { from: "permission is hereby granted" },
  "MIT-0": { from: "permission is hereby granted" },
  ISC: { from: "permission to use" },
  "0BSD": { from: "permission to use" },
  "BSD-2-Clause": { from: "redistribution and use" },
  "BSD-3-Clause": { from: "redistribution and use" },
  "Apache-2.0": gnuTerms,
  "MPL-2.0": { until: "exhibit source code form license notice" },
  // SPDX leaves out the last paragraph of the appendix.
  "GPL-2.0": {
    ...gnuTerms,
    also: `This General Public License does not permit incorporating your program into proprietary programs. If your program is a
      subroutine library, you may consider it more useful to permit linking proprietary applications with the library. If this is what
      you want to do, use the GNU Lesser General Public License instead of this License.`,
  },
  "GPL-3.0": gnuTerms,
  "LGPL-2.1": gnuTerms,
  // Its text is in SPDX followed by that of GPL-3.0, which it includes by reference.
  "LGPL-3.0": { until: "gnu general public license version june" },
  "AGPL-3.0": gnuTerms,
  "EPL-2.0": { until: "exhibit form of secondary licenses notice" },
  "BSL-1.0": { from: "permission is hereby granted" },
  Unlicense: { until: "for more information please refer" },
  "CC0-1.0": { from: "statement of purpose" },
  "CC-BY-4.0": creativeCommons,
  "CC-BY-SA-4.0": creativeCommons,
  "CC-BY-NC-4.0": creativeCommons,
  "CC-BY-NC-SA-4.0": creativeCommons,
  Zlib: { from: "this software is provided" },
  WTFPL: {},
  "Artistic-2.0": {},
  "EUPL-1.2": {},
};

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error("Give the directory of the package spdx-license-list.");

const texts = Object.entries(licenses).map(([id, { from, until, also = "" }]) => {
  const file = path.join(directory, "licenses", `${id}.json`);
  const words = comparableWords(readText(file));
  const whole = countWords([...words, ...comparableWords(also)]);
  const terms = countWords(termsOf(words, from, until, id));
  return { id, whole, terms };
});
const vocabulary = [...new Set(texts.flatMap(({ whole }) => [...whole.keys()]))].sort();
const data = {
  words: vocabulary.join(" "),
  licenses: Object.fromEntries(texts.map((text) => [text.id, encode(text)])),
};
const target = new URL("../src/skills/licenses/license-texts.json", import.meta.url);
writeFileSync(target, `${JSON.stringify(data, null, 2)}\n`);

/**
 * @param {string} file
 * @returns {string}
 */
function readText(file) {
  /** @type {unknown} */
  const license = JSON.parse(readFileSync(file, "utf8"));
  const isLicense = typeof license === "object" && license !== null && "licenseText" in license;
  if (!isLicense || typeof license.licenseText !== "string") throw new Error(`${file} has no licenseText.`);
  return license.licenseText;
}

/**
 * @param {{ whole: ReadonlyMap<string, number>, terms: ReadonlyMap<string, number> }} text
 * @returns {string}
 */
function encode({ whole, terms }) {
  let next = 0;
  const entries = vocabulary.flatMap((word, index) => {
    const most = whole.get(word);
    if (most === undefined) return [];
    const skipped = index - next;
    next = index + 1;
    const least = terms.get(word) ?? 0;
    const count = least !== most ? `.${least}-${most}` : most === 1 ? "" : `.${most}`;
    return `${skipped === 0 ? "" : skipped}${count}`;
  });
  return entries.join(" ");
}

/**
 * @param {readonly string[]} words
 * @param {string | undefined} from
 * @param {string | undefined} until
 * @param {string} id
 */
function termsOf(words, from, until, id) {
  const text = words.join(" ");
  const start = from === undefined ? 0 : text.indexOf(from);
  const end = until === undefined ? text.length : text.indexOf(until, 1);
  if (start < 0 || end < 0) throw new Error(`${id} does not contain "${start < 0 ? from : until}".`);
  return text.slice(start, end).trim().split(" ");
}
