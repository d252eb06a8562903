/** At most `limit` UTF-16 units of a text, in which clients count; never ends with half a character. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = text.slice(0, limit - 1);
  return `${/[\uD800-\uDBFF]$/.test(end) ? end.slice(0, -1) : end}…`;
}
