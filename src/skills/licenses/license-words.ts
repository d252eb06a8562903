import { withoutCopyrightLines } from "./copyright-lines.ts";

/** How often each word occurs in a license text. */
export type WordCounts = ReadonlyMap<string, number>;

/**
 * The words of a license text that matter for comparing it: without case, punctuation, list numbers, addresses of web pages, copyright
 * lines and the names that people fill in. Line breaks and indentation do not matter.
 */
export function comparableWords(text: string): readonly string[] {
  const words = withoutCopyrightLines(text.normalize("NFKC").replace(/<!--[^]{0,1000}?-->/g, " "))
    .toLowerCase()
    .replace(/https?:\/\/[^\s<>()]*/g, " ")
    .replace(/['’`´]/g, "")
    .match(/[\p{L}\p{N}]+/gu);
  const kept = (words ?? []).filter((word) => !/^(?:\p{L}|\d{1,2}|(?:19|20)\d\d)$/u.test(word));
  const plain = blanks.reduce((all, [pattern, words]) => all.replace(pattern, words), kept.join(" "));
  return plain.split(" ").filter((word) => word !== "");
}

/** In plain words joined by single spaces: what people fill in or spell differently, and what stands for it. */
const blanks: readonly (readonly [RegExp, string])[] = [
  [/\blicence(s|d)?\b/g, "license$1"],
  [/\bcopyright (?:owner|holder)s?\b/g, "copyright holder"],
  [
    /\bneither the names? of .{0,120}? nor the names? of (?:its|the|their|any)\b/g,
    "neither the name nor the names of its",
  ],
  [/\bprovided by .{0,120}? as is\b/g, "provided by holder as is"],
  [/\bin no event shall .{0,120}? be liable\b/g, "in no event shall holder be liable"],
  [
    /\beveryone is permitted to copy and distribute verbatim copies of this license document but changing it is not allowed\b/g,
    "",
  ],
  [/\bas is and .{0,80}? disclaims? all warranties\b/g, "as is and holder disclaims all warranties"],
];

export function countWords(words: readonly string[]): WordCounts {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
