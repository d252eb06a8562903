const maxComparedLength = 128;
const minPartLength = 3;
const startDistance = 0.25;
const partDistance = 0.5;
const maxCompared = 200;

/** Options for `available` in errors: a fixed number of names, however distant. */
export const asAvailable = { count: 10, within: Infinity } as const;

interface Candidate {
  readonly name: string;
  readonly text: string;
  readonly index: number;
  distance: number;
}

/**
 * The names most similar to a word, best first; equally similar ones stay in their order. Names that begin with the word come first, then
 * names that contain it or are contained in it, then names that are only similar. Returns at most `count` names with fewer than `within`
 * edits; the default covers plausible misspellings. Exact distances are computed only for the 200 best candidates, so that thousands of
 * long names take milliseconds.
 */
export function nearest(
  word: string,
  names: Iterable<string>,
  {
    count = 1,
    within = Math.max(1, Math.floor(word.length / 3)) + 1,
  }: { readonly count?: number; readonly within?: number } = {},
): string[] {
  const wanted = comparable(word);
  const leastEdits = countLetters(wanted);
  const byDistance = (a: Candidate, b: Candidate): number => a.distance - b.distance || a.index - b.index;
  const best: Candidate[] = [];
  const others: Candidate[] = [];
  let index = 0;
  for (const name of names) {
    const text = comparable(name);
    const part = partOf(wanted, text);
    const distance = part ?? leastEdits(text);
    index++;
    if (distance < within) (part === undefined ? others : best).push({ name, text, index, distance });
  }
  for (const candidate of others.sort(byDistance).slice(0, maxCompared)) {
    candidate.distance = editDistance(wanted, candidate.text);
    if (candidate.distance < within) best.push(candidate);
  }
  return Array.from(best.sort(byDistance).slice(0, count), ({ name }) => name);
}

/** Truncates twice, because lower-case text may be longer than the original. */
function comparable(text: string): string {
  return text.slice(0, maxComparedLength).toLowerCase().slice(0, maxComparedLength);
}

/** The distance if one text equals, begins with or contains the other; else undefined. */
function partOf(wanted: string, name: string): number | undefined {
  if (wanted === name) return 0;
  if (Math.min(wanted.length, name.length) < minPartLength) return undefined;
  if (name.startsWith(wanted)) return startDistance;
  return name.includes(wanted) || wanted.includes(name) ? partDistance : undefined;
}

/** A lower bound of the edits: the number of letters that two words do not share, regardless of order. */
function countLetters(wanted: string): (name: string) => number {
  const counts = new Int16Array(128);
  // Letters that share a slot of the table can only lower the bound.
  const add = (code: number, number: number): number => (counts[code % 128] = (counts[code % 128] ?? 0) + number);
  for (let at = 0; at < wanted.length; at++) add(wanted.charCodeAt(at), 1);
  return (name) => {
    let common = 0;
    for (let at = 0; at < name.length; at++) if (add(name.charCodeAt(at), -1) >= 0) common++;
    for (let at = 0; at < name.length; at++) add(name.charCodeAt(at), 1);
    return Math.max(wanted.length, name.length) - common;
  };
}

/** Optimal string alignment distance: insertion, deletion, substitution and transposition count one each. */
function editDistance(a: string, b: string): number {
  let beforeLast = new Uint16Array(b.length + 1);
  let last = Uint16Array.from({ length: b.length + 1 }, (_, column) => column);
  let current = new Uint16Array(b.length + 1);
  for (let row = 1; row <= a.length; row++) {
    current[0] = row;
    for (let column = 1; column <= b.length; column++) {
      const [own, other] = [a.charCodeAt(row - 1), b.charCodeAt(column - 1)];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (own === other ? 0 : 1),
      );
      const isSwap = row > 1 && column > 1 && own === b.charCodeAt(column - 2) && a.charCodeAt(row - 2) === other;
      if (isSwap) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current[column] = cost;
    }
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  return last[b.length] ?? 0;
}
