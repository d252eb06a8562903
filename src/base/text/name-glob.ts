/** The maximum number of wildcards in a pattern: it bounds the time of matching. */
export const maxWildcards = 4;

/**
 * Whether a pattern matches a whole text. `*` matches any number of characters, including zero. A `*` in the text is matched only by a
 * `*`. So a pattern that matches a second pattern also matches every text that the second one matches.
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
