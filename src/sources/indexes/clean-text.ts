/** Controls, lone surrogates, and characters that are invisible or reorder text; joiners stay, which scripts and emoji need. */
const unwanted =
  /[\p{Cc}\p{Cs}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]+/gu;

/** A text of others on one line, at most so many characters (code points) long. */
export function cleanText(text: string, length: number): string {
  // A character has at most two units; what is cut here is never read.
  const start = text.slice(0, (length + 1) * 4);
  const clean = start.replace(unwanted, " ").replace(/\s+/gu, " ").trim();
  const characters = Array.from(clean);
  return characters.length <= length && start.length === text.length
    ? clean
    : `${characters.slice(0, length - 1).join("").trimEnd()}…`; // prettier-ignore
}
