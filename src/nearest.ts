/** The names closest to a misspelt one, best first: few edits, or one a part of the other. Empty where nothing is close. */
export function nearest(word: string, names: readonly string[], count = 1): string[] {
  const wanted = word.toLowerCase();
  const allowed = Math.max(1, Math.floor(wanted.length / 3));
  return names
    .map((name) => ({ name, distance: distanceTo(wanted, name.toLowerCase(), allowed) }))
    .filter(({ distance }) => distance <= allowed)
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, count)
    .map(({ name }) => name);
}

function distanceTo(wanted: string, name: string, allowed: number): number {
  const contained = wanted.length >= 3 && (name.includes(wanted) || wanted.includes(name));
  // The lengths alone tell that so many edits are needed, and comparing costs a hundred times more.
  const isFar = Math.abs(wanted.length - name.length) > allowed;
  const edits = isFar ? allowed + 1 : editDistance(wanted, name);
  return contained ? Math.min(edits, allowed) : edits;
}

/** Insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}
