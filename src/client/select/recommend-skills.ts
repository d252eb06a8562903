import type { SkillFacts } from "../select.ts";

const maxPrompt = 10_000;
const maxPromptWords = 200;
const defaultLimit = 5;
/** A word of the name counts as much as three of the description. */
const nameWeight = 3;

/** A skill that may help with a prompt, and why. */
export interface Recommendation<S extends SkillFacts = SkillFacts> {
  readonly skill: S;
  /** The score of the skill, comparable within one answer only. */
  readonly score: number;
  /** The words of the prompt that occur in the skill's name or description, most telling first: the reason. */
  readonly words: readonly string[];
}

/**
 * Recommends skills of a list that does not change: those that share words with the prompt, rare words first. It knows words only, not
 * meanings. The index is made at the first prompt.
 */
export function openRecommendations<S extends SkillFacts>(
  skills: readonly S[],
): (prompt: string, limit?: number) => readonly Recommendation<S>[] {
  let index: Index | undefined;
  return (prompt, limit = defaultLimit) => {
    index ??= indexOf(skills);
    const found = new Map<number, { score: number; readonly words: { text: string; score: number }[] }>();
    for (const [stem, text] of [...wordsOf(prompt.slice(0, maxPrompt))].slice(0, maxPromptWords)) {
      const weights = index.get(stem);
      if (weights === undefined) continue;
      const rarity = Math.log(1 + skills.length / weights.size);
      for (const [position, weight] of weights) {
        const score = rarity * weight;
        const hit = found.get(position) ?? { score: 0, words: [] };
        hit.score += score;
        hit.words.push({ text, score });
        found.set(position, hit);
      }
    }
    return [...found]
      .sort(([indexA, a], [indexB, b]) => b.score - a.score || indexA - indexB)
      .slice(0, limit)
      .flatMap(([position, { score, words }]) => {
        const skill = skills[position];
        const texts = words.sort((a, b) => b.score - a.score).map(({ text }) => text);
        return skill === undefined ? [] : [{ skill, score, words: texts }];
      });
  };
}

/** The skills that contain a word, by their index in the list, with the weight of the word there. */
type Index = ReadonlyMap<string, ReadonlyMap<number, number>>;

function indexOf(skills: readonly SkillFacts[]): Index {
  const index = new Map<string, Map<number, number>>();
  for (const [position, { name, description }] of skills.entries()) {
    add(description, 1);
    add(name, nameWeight);

    function add(text: string, weight: number): void {
      for (const stem of wordsOf(text).keys()) {
        const weights = index.get(stem) ?? new Map<number, number>();
        weights.set(position, weight);
        index.set(stem, weights);
      }
    }
  }
  return index;
}

/** The words of a text by their stems, without stop words. */
function wordsOf(text: string): ReadonlyMap<string, string> {
  const words = new Map<string, string>();
  for (const [word] of text
    .normalize("NFC")
    .toLowerCase()
    .matchAll(/[\p{L}\p{M}\p{N}]+/gu))
    if (word.length > 1 && !stopWords.has(word)) words.set(stemOf(word), word);
  return words;
}

/** The stem of a word. Only plurals change: `files` becomes `file`. */
function stemOf(word: string): string {
  return word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}

/** English words that say nothing about what a skill does, and words that most descriptions of skills contain. */
const stopWords: ReadonlySet<string> = /* @__PURE__ */ new Set(
  (
    "a about all also an and any are as at be but by can could do does for from get has have help how i if in into is it its just let " +
    "like make me my need no not of on or our put should so some than that the their them there these they this to " +
    "us use used using want was we what when where which who why will with would you your"
  ).split(" "),
);
