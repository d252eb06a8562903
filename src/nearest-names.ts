const longestCompared = 128;
const shortestPart = 3;
const width = longestCompared + 1;
const [rowA, rowB, rowC] = [new Uint16Array(width), new Uint16Array(width), new Uint16Array(width)];

/**
 * The `count` names most like a word, best first: few edits (of a letter, or a swap of neighbours), and a name that contains the
 * word, or is contained in it, before one that merely looks like it. Always as many as there are, so that a caller sees its choice.
 */
export function nearestNames(word: string, names: Iterable<string>, count = 10): string[] {
  const wanted = word.slice(0, longestCompared).toLowerCase();
  const best: { readonly name: string; readonly distance: number }[] = [];
  for (const name of names) {
    const worst = best.length < count ? Infinity : (best[count - 1]?.distance ?? Infinity);
    const distance = distanceBetween(wanted, name.slice(0, longestCompared).toLowerCase(), worst);
    if (distance >= worst) continue;
    const place = best.findIndex((other) => other.distance > distance);
    best.splice(place < 0 ? best.length : place, 0, { name, distance });
    if (best.length > count) best.pop();
  }
  return best.map(({ name }) => name);
}

/** Exact up to `limit`; what is farther away than that may count as any number from `limit` on. */
function distanceBetween(wanted: string, name: string, limit: number): number {
  if (wanted === name) return 0;
  const isPart =
    Math.min(wanted.length, name.length) >= shortestPart && (name.includes(wanted) || wanted.includes(name));
  if (isPart) return 1 - 1 / (1 + Math.abs(wanted.length - name.length));
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
