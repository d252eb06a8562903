/** The candidate a person most likely meant: the fewest edits, where at most half of it has to change. */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates
    .map((candidate) => ({ candidate, edits: editDistance(text.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits <= Math.ceil(candidate.length / 2))
    .sort((a, b) => a.edits - b.edits);
  return ranked[0]?.candidate;
}

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, character] of Array.from(from).entries()) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++) {
      const substituted = (row[j] ?? 0) + (character === to[j] ? 0 : 1);
      next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, substituted));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
