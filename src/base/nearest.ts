const longestCompared = 128;
const shortestPart = 3;
const partDistance = 0.5;
const maxCompared = 200;
const letters = 128;
const width = longestCompared + 1;
const [rowA, rowB, rowC] = [new Uint16Array(width), new Uint16Array(width), new Uint16Array(width)];

/** As many as a caller is shown of the names that there are (`available`, C-2.3), however far they are. */
export const asAvailable = { count: 10, within: Infinity } as const;

interface Candidate {
  readonly name: string;
  /** As it is compared. */
  readonly text: string;
  readonly place: number;
}

interface Ranked extends Candidate {
  readonly distance: number;
}

/**
 * The names most like a word, best first: a part of a name, or a name with something added, before one that merely looks alike. At most
 * `count`, and only those that fewer than `within` edits lead to; by default none that nobody would misspell so. Among thousands of
 * names only the most promising are compared letter by letter: nothing else waits long for an error.
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
  const best: Ranked[] = [];
  const ranks = (distance: number, place: number): boolean => {
    const last = best.length < count ? undefined : best.at(-1);
    if (distance >= within) return false;
    return last === undefined || distance < last.distance || (distance === last.distance && place < last.place);
  };
  const keep = (ranked: Ranked): void => {
    if (!ranks(ranked.distance, ranked.place)) return;
    const { distance, place } = ranked;
    const at = best.findIndex(
      (other) => other.distance > distance || (other.distance === distance && other.place > place),
    );
    best.splice(at < 0 ? best.length : at, 0, ranked);
    if (best.length > count) best.pop();
  };

  const leastEdits = countLetters(wanted);
  /** By the fewest edits that could lead to them. */
  const others: Candidate[][] = [];
  let place = 0;
  for (const name of names) {
    const candidate = { name, text: comparable(name), place: place++ };
    const distance = plainDistance(wanted, candidate.text);
    if (distance !== undefined) keep({ ...candidate, distance });
    else (others[leastEdits(candidate.text)] ??= []).push(candidate);
  }
  let compared = 0;
  for (const [edits, candidates] of Object.entries(others)) {
    for (const candidate of candidates) {
      if (!ranks(Number(edits), candidate.place)) continue;
      if (compared++ === maxCompared) return best.map(({ name }) => name);
      const limit = best.length < count ? within : (best.at(-1)?.distance ?? within);
      keep({ ...candidate, distance: editDistance(wanted, candidate.text, limit) });
    }
  }
  return best.map(({ name }) => name);
}

/** Cut twice: a lower-case text may be longer than it was. */
function comparable(text: string): string {
  return text.slice(0, longestCompared).toLowerCase().slice(0, longestCompared);
}

/** Where no letters need to be compared; undefined elsewhere. */
function plainDistance(wanted: string, name: string): number | undefined {
  if (wanted === name) return 0;
  if (Math.min(wanted.length, name.length) < shortestPart) return undefined;
  return name.includes(wanted) || wanted.includes(name) ? partDistance : undefined;
}

/** How many edits it takes at least to make a word of the same letters out of another one, whatever their order. */
function countLetters(wanted: string): (name: string) => number {
  const left = new Int16Array(letters);
  for (let at = 0; at < wanted.length; at++) add(left, wanted.charCodeAt(at), 1);
  return (name) => {
    let common = 0;
    for (let at = 0; at < name.length; at++) if (add(left, name.charCodeAt(at), -1) >= 0) common++;
    for (let at = 0; at < name.length; at++) add(left, name.charCodeAt(at), 1);
    return Math.max(wanted.length, name.length) - common;
  };
}

/** Letters that share a place make the least number of edits smaller, never too large. */
function add(counts: Int16Array, code: number, number: number): number {
  const place = code % letters;
  return (counts[place] = (counts[place] ?? 0) + number);
}

/** Optimal string alignment: exact up to `limit`, some larger number beyond. The rows are shared: nothing here gives up its turn. */
function editDistance(a: string, b: string, limit: number): number {
  let [beforeLast, last, current] = [rowA, rowB, rowC];
  for (let column = 0; column <= b.length; column++) last[column] = column;
  for (let row = 1; row <= a.length; row++) {
    current[0] = row;
    let smallest = row;
    for (let column = 1; column <= b.length; column++) {
      const same = a.charCodeAt(row - 1) === b.charCodeAt(column - 1);
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (
        row > 1 &&
        column > 1 &&
        a.charCodeAt(row - 1) === b.charCodeAt(column - 2) &&
        a.charCodeAt(row - 2) === b.charCodeAt(column - 1)
      ) {
        cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      }
      current[column] = cost;
      smallest = Math.min(smallest, cost);
    }
    // A swap looks two rows back, and never wins more than one edit by it.
    if (smallest > limit) return smallest;
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  return last[b.length] ?? 0;
}
