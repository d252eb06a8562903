/**
 * Characters that change how other text is shown, or are not shown at all: controls, bidirectional overrides, zero-width and tag
 * characters. Joiners stay: scripts and emoji need them.
 */
const invisible =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

/** One line of a text of a skill, at most `limit` characters of it, in which nothing hides: `abc⟨U+202E⟩def`. */
export function toVisible(text: string, limit = 400): string {
  const clipped = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return clipped.replace(invisible, (character) => `⟨U+${codeOf(character)}⟩`);
}

const latin = /\p{Script=Latin}/u;
const lookAlike = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Lisu}]/u;

/** Whether some word mixes Latin letters with those of a script that has look-alikes of them. */
export function hasLookAlikes(name: string): boolean {
  return name
    .slice(0, 1_000)
    .split(/[^\p{L}]+/u)
    .some((word) => latin.test(word) && lookAlike.test(word));
}

function codeOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
}
