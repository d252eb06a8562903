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
