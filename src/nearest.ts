const longestCompared = 128;
const shortestPart = 3;
const partDistance = 0.5;
const width = longestCompared + 1;
const [rowA, rowB, rowC] = [new Uint16Array(width), new Uint16Array(width), new Uint16Array(width)];

/** As many as a caller is shown of the names that there are (`available`, C-2.3), however far they are. */
export const asAvailable = { count: 10, within: Infinity } as const;

/**
 * The names most like a word, best first: a part of a name, or a name with something added, before one that merely looks alike. At most
 * `count`, and only those that fewer than `within` edits lead to; by default none that nobody would misspell so.
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
  const best: { readonly name: string; readonly distance: number }[] = [];
  for (const name of names) {
    const worst = best.length < count ? within : (best[count - 1]?.distance ?? within);
    const distance = distanceBetween(wanted, comparable(name), worst);
    if (distance >= worst) continue;
    const place = best.findIndex((other) => other.distance > distance);
    best.splice(place < 0 ? best.length : place, 0, { name, distance });
    if (best.length > count) best.pop();
  }
  return best.map(({ name }) => name);
}

/** Cut twice: a lower-case text may be longer than it was. */
function comparable(text: string): string {
  return text.slice(0, longestCompared).toLowerCase().slice(0, longestCompared);
}

/** Exact up to `limit`; what is farther away than that may count as any number from `limit` on. */
function distanceBetween(wanted: string, name: string, limit: number): number {
  if (wanted === name) return 0;
  const isPart =
    Math.min(wanted.length, name.length) >= shortestPart && (name.includes(wanted) || wanted.includes(name));
  if (isPart) return partDistance;
  return Math.abs(wanted.length - name.length) >= limit ? limit : editDistance(wanted, name, limit);
}

/** Optimal string alignment. The rows are shared: nothing here gives up its turn. */
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
