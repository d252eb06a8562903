import type { JSX } from "preact";

/** A text that skills or agents wrote, on one line: its direction is isolated and its unseen characters are named. */
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

/** A name that skills or agents wrote, with a warning if it mixes scripts whose letters look alike. */
export function foreignName(name: string): JSX.Element {
  return (
    <>
      {foreignText(name, 128)}
      {hasConfusables(name) && <span class="chip warning">look-alike letters</span>}
    </>
  );
}

/** Characters that show nothing or move others: Unicode's default ignorables, direction controls, and controls but tab and line ends. */
const unseen =
  /(?:\p{Default_Ignorable_Code_Point}|\p{Bidi_Control}|[\u2800\ufff9-\ufffb]|(?![\t\n\r])\p{Cc}|\p{Cs})+/gu;
/** Joiners and selectors that shape a visible sign. They may follow emoji (`shaped`) and letters of scripts that join. */
const shaping = /^(?:\ufe0f|[\u200c\u200d]|\ufe0f\u200d)$/;
const shaped = /(?:\p{Emoji}|(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])[\p{L}\p{M}])$/u;

/** Replaces each run of unseen characters with their names, as in `⟨U+202E⟩`. */
export function visibleText(text: string): string {
  return text.replace(unseen, (run: string, offset: number, whole: string) =>
    shaping.test(run) && shaped.test(whole.slice(Math.max(0, offset - 2), offset)) ? run : named(run),
  );
}

/** Names a run, as in `⟨U+202E⟩`: its first three characters and the number of the others. Tag characters are spelled as ASCII. */
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

/** Cuts a text to `limit` characters and names the unseen ones: `abc⟨U+202E⟩def`. */
export function toVisible(text: string, limit = 400): string {
  return visibleText(text.length > limit ? `${text.slice(0, limit)}…` : text);
}

const latin = /\p{Script=Latin}/u;
const lookAlike = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Lisu}]/u;

/** Whether a word mixes Latin letters with letters of a script that has look-alikes. */
function hasConfusables(name: string): boolean {
  return name
    .slice(0, 1_000)
    .split(/[^\p{L}]+/u)
    .some((word) => latin.test(word) && lookAlike.test(word));
}
