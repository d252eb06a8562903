import type { Skill } from "../../skills/skill.ts";
import { maxRowTags } from "../../wire/tools.ts";

/** The maximum number of words of a query that are used. */
const maxWords = 16;

/** Splits a query into words, in lower case, each once. */
export function toQueryWords(query: string): readonly string[] {
  return [...new Set(normalize(query).match(/[\p{L}\p{M}\p{N}]+/gu))].slice(0, maxWords);
}

/**
 * Ranks how well a skill matches the words: 0 if none of them is in its name, tags or description. More matching words outweigh better
 * matches. Pure, so that it can be a sort key for paging.
 */
export function rankByWords(
  { name, tags, description }: Pick<Skill, "name" | "tags" | "description">,
  words: readonly string[],
): number {
  const fields = [
    { text: normalize(name), weight: 4 },
    { text: normalize(tags.slice(0, maxRowTags).join(" ")), weight: 3 },
    { text: normalize(description), weight: 1 },
  ];
  let rank = 0;
  for (const word of words) {
    const score = fields.reduce((sum, { text, weight }) => sum + weight * levelOf(text, word), 0);
    if (score > 0) rank += aWord + score;
  }
  return rank;
}

/** Greater than the sum of all word scores. */
const aWord = 1_000;

/** Returns 3 for the whole word, 2 for a prefix, 1 for a substring; a plural also matches its singular. */
function levelOf(text: string, given: string): number {
  const word = given.length > 3 && given.endsWith("s") ? given.slice(0, -1) : given;
  let level = 0;
  for (let at = text.indexOf(word); at !== -1 && level < 3; at = text.indexOf(word, at + 1)) {
    const end = at + word.length;
    const isEnd = !isInWord(text, end) || (text[end] === "s" && !isInWord(text, end + 1));
    if (!isInWord(text, at - 1)) level = isEnd ? 3 : 2;
    else if (word.length > 2 || !isAscii.test(word)) level = Math.max(level, 1);
  }
  return level;
}

const isAscii = /^[\0-\x7f]*$/;
const inWord = /[\p{L}\p{M}\p{N}\p{Cs}]/u;

function isInWord(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  // Faster than a regular expression in nearly all cases.
  if (code < 0x80) return (code > 0x2f && code < 0x3a) || (code > 0x60 && code < 0x7b);
  return code > 0x7f && inWord.test(text[at] ?? "");
}

function normalize(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}
