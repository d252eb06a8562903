/** How many wildcards a pattern may have: matching stays fast whatever the pattern. */
export const maxWildcards = 4;

/**
 * Whether a pattern matches a whole text; `*` stands for any characters, also none. A `*` in the text is matched by a `*` only, so that
 * a pattern that matches another pattern matches everything that the other one does.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const [first = "", ...others] = pattern.split("*");
  const last = others.pop();
  if (last === undefined) return pattern === text;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return at <= end;
}

/** Whether some text may match both patterns: true if in doubt. */
export function globsOverlap(a: string, b: string): boolean {
  if (!a.includes("*")) return matchesGlob(b, a);
  if (!b.includes("*")) return matchesGlob(a, b);
  const [startA, startB] = [a.slice(0, a.indexOf("*")), b.slice(0, b.indexOf("*"))];
  const [endA, endB] = [a.slice(a.lastIndexOf("*") + 1), b.slice(b.lastIndexOf("*") + 1)];
  return (startA.startsWith(startB) || startB.startsWith(startA)) && (endA.endsWith(endB) || endB.endsWith(endA));
}
