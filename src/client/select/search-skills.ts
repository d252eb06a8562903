import uFuzzy from "@leeoniya/ufuzzy";
import type { SkillFacts } from "../select.ts";

const maxQuery = 200;
const maxWords = 8;
/** With fewer hits than this, names that contain the words with a typo are added. */
const fewHits = 5;
const maxTypoHits = 20;
const minTypoQuery = 3;
const maxTypoQuery = 40;

/** How much a word counts by where it occurs. */
const weight = { nameStart: 8, nameWord: 6, name: 4, otherName: 2, description: 1 } as const;
const exactName = maxWords * weight.nameStart;

/** The lower-cased texts of a skill. */
interface Haystack {
  readonly index: number;
  readonly name: string;
  readonly otherNames: string;
  readonly description: string;
}

/**
 * Searches a list of skills that does not change. Each word of the query must occur in the skill; names count more than descriptions, and
 * equal hits retain the order of the list. An empty query returns the list itself. Texts are prepared at the first query.
 */
export function openSearch<S extends SkillFacts>(skills: readonly S[]): (query: string) => readonly S[] {
  let haystacks: readonly Haystack[] | undefined;
  let names: string[] | undefined;
  let last: { readonly query: string; readonly hits: readonly Haystack[] } | undefined;

  return (query) => {
    const wanted = normalize(query.slice(0, maxQuery)).trimStart();
    const words = wanted.split(/\s+/u).filter(Boolean).slice(0, maxWords);
    if (words.length === 0) return skills;
    haystacks ??= skills.map(toHaystack);
    // A longer query cannot match more.
    const candidates = last !== undefined && wanted.startsWith(last.query) ? last.hits : haystacks;
    const { hits, ordered } = find(candidates, words);
    last = { query: wanted, hits };
    const found = ordered.map(({ index }) => index);
    if (hits.length < fewHits) {
      names ??= haystacks.map(({ name }) => name);
      found.push(...withTypo(names, words.join(" "), new Set(found)));
    }
    return found.flatMap((index) => skills[index] ?? []);
  };
}

function toHaystack(
  { name, canonicalName = "", folder = "", namespace = "", description }: SkillFacts,
  index: number,
): Haystack {
  return {
    index,
    name: normalize(name),
    otherNames: normalize(`${canonicalName}\n${folder}\n${namespace}`),
    description: normalize(description),
  };
}

const isAscii = /^[\0-\x7f]*$/;

function normalize(text: string): string {
  return (isAscii.test(text) ? text : text.normalize("NFC")).toLowerCase();
}

/** The hits in the order of the list, and with the best first. */
function find(
  candidates: readonly Haystack[],
  words: readonly string[],
): { readonly hits: readonly Haystack[]; readonly ordered: readonly Haystack[] } {
  const hits: Haystack[] = [];
  /** Hits by score: for few distinct numbers, this sorts faster than comparisons. */
  const byScore: Haystack[][] = [];
  const wholeName = words.join("-");
  for (const haystack of candidates) {
    const score = scoreOf(haystack, words);
    if (score === 0) continue;
    hits.push(haystack);
    const index = haystack.name === wholeName ? exactName + score : score;
    (byScore[index] ??= []).push(haystack);
  }
  return { hits, ordered: byScore.reverse().flat() };
}

/** The score of a skill; 0 if a word does not occur. */
function scoreOf(haystack: Haystack, words: readonly string[]): number {
  let score = 0;
  for (const word of words) {
    const found = weightOf(haystack, word);
    if (found === 0) return 0;
    score += found;
  }
  return score;
}

function weightOf({ name, otherNames, description }: Haystack, word: string): number {
  const at = name.indexOf(word);
  if (at === 0) return weight.nameStart;
  if (at > 0) return name[at - 1] === "-" ? weight.nameWord : weight.name;
  if (otherNames.includes(word)) return weight.otherName;
  return description.includes(word) ? weight.description : 0;
}

/** Tolerates one error a word. Typed loosely, because `intraMode` is an enum that exists in types only. */
const typoOptions: object = { intraMode: 1, intraIns: 1, intraSub: 1, intraTrn: 1, intraDel: 1 };
const typos = /* @__PURE__ */ new uFuzzy(typoOptions);

/** Names that contain the query if one letter of a word may be wrong, missing, additional or swapped; best first. */
function withTypo(names: string[], query: string, known: ReadonlySet<number>): number[] {
  if (query.length < minTypoQuery || query.length > maxTypoQuery || !/^[\w\s.-]+$/.test(query)) return [];
  const [found, info, order] = typos.search(names, query);
  const best = order === null ? (found ?? []) : order.flatMap((index) => info.idx[index] ?? []);
  return best.filter((index) => !known.has(index)).slice(0, maxTypoHits);
}
