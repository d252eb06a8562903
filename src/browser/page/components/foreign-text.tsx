import type { JSX } from "preact";

/** A text that skills or agents wrote, on one line: isolated in its direction, and nothing in it hides. */
export function foreignText(text: string, limit?: number): JSX.Element {
  return <bdi>{toVisible(text, limit)}</bdi>;
}

interface ForeignListProps {
  readonly texts: readonly string[];
  readonly limit?: number;
  readonly class?: string;
}

/** Texts that skills or agents wrote, as a list; nothing if there are none. */
export function ForeignList({ texts, limit = Infinity, class: className }: ForeignListProps): JSX.Element | null {
  if (texts.length === 0) return null;
  return (
    <ul class={className}>
      {texts.map((text) => (
        <li key={text}>{foreignText(text, limit)}</li>
      ))}
    </ul>
  );
}

/** A name that skills or agents wrote, with a warning where it mixes scripts whose letters look alike. */
export function foreignName(name: string): JSX.Element {
  return (
    <>
      {foreignText(name, 128)}
      {hasConfusables(name) && <span class="chip warning">look-alike letters</span>}
    </>
  );
}

/** Characters that show nothing or move others: all that Unicode ignores by default, controls of direction, and controls but tab and line ends. */
const unseen =
  /(?:\p{Default_Ignorable_Code_Point}|\p{Bidi_Control}|[\u2800\ufff9-\ufffb]|(?![\t\n\r])\p{Cc}|\p{Cs})+/gu;
/** Joiners and selectors that shape a visible sign, and what they may follow: emoji, and letters of scripts that join. */
const shaping = /^(?:\ufe0f|[\u200c\u200d]|\ufe0f\u200d)$/;
const shaped = /(?:\p{Emoji}|(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])[\p{L}\p{M}])$/u;

/** The text with each run of unseen characters named in its place, as in `⟨U+202E⟩`. */
export function visibleText(text: string): string {
  return text.replace(unseen, (run: string, offset: number, whole: string) =>
    shaping.test(run) && shaped.test(whole.slice(Math.max(0, offset - 2), offset)) ? run : named(run),
  );
}

/** `⟨U+202E⟩`: the first three and the number of others; tag characters as the ASCII text that they spell. */
function named(run: string): string {
  const characters = Array.from(run);
  const tags = characters
    .map((character) => (character.codePointAt(0) ?? 0) - 0xe0000)
    .filter((code) => code >= 0x20 && code < 0x7f);
  if (tags.length > 3) return `⟨tags spelling “${String.fromCharCode(...tags.slice(0, 500))}”⟩`;
  const names = characters
    .slice(0, 3)
    .map((character) => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`);
  return `⟨${names.join(" ")}${characters.length > 3 ? ` and ${characters.length - 3} more` : ""}⟩`;
}

/** One line of a text of a skill, at most `limit` characters of it, in which nothing hides: `abc⟨U+202E⟩def`. */
export function toVisible(text: string, limit = 400): string {
  return visibleText(text.length > limit ? `${text.slice(0, limit)}…` : text);
}

const latin = /\p{Script=Latin}/u;
const lookAlike = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Lisu}]/u;

/** Whether some word mixes Latin letters with those of a script that has look-alikes of them. */
function hasConfusables(name: string): boolean {
  return name
    .slice(0, 1_000)
    .split(/[^\p{L}]+/u)
    .some((word) => latin.test(word) && lookAlike.test(word));
}
