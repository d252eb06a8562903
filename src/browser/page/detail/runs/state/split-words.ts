/** The words of a line, or why it has none. `at` is the place of what is not closed. */
export type SplitWords =
  | { readonly words: readonly string[]; readonly problem?: never }
  | { readonly words?: never; readonly problem: string; readonly at: number };

/** The number of arguments that `execute_skill` accepts. */
const maxWords = 256;

/**
 * Splits a text into words as a POSIX shell would: blanks separate, quotes and backslashes quote. Nothing is expanded: `$`, `*`, `|` and
 * the like are text.
 */
export function splitWords(text: string): SplitWords {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    if (/[ \t\n]/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === "'") {
      const end = text.indexOf("'", at + 1);
      if (end === -1) return { problem: "This single quote is not closed.", at };
      word = (word ?? "") + text.slice(at + 1, end);
      at = end;
    } else if (character === '"') {
      const quoted = readDoubleQuoted(text, at + 1);
      if (quoted === undefined) return { problem: "This double quote is not closed.", at };
      word = (word ?? "") + quoted.text;
      at = quoted.end;
    } else if (character === "\\") {
      if (at + 1 === text.length) return { problem: "This backslash has nothing after it to quote.", at };
      at += 1;
      // A line that goes on in the next one.
      if (text[at] !== "\n") word = (word ?? "") + (text[at] ?? "");
    } else word = (word ?? "") + character;
  }
  if (word !== undefined) words.push(word);
  if (words.length > maxWords)
    return { problem: `argv: expected at most ${maxWords} strings, got ${words.length}.`, at: text.length };
  const nul = words.findIndex((one) => one.includes("\0"));
  return nul === -1 ? { words } : { problem: "argv: expected strings without NUL.", at: text.indexOf("\0") };
}

/** The text up to the closing quote; undefined where there is none. */
function readDoubleQuoted(text: string, start: number): { readonly text: string; readonly end: number } | undefined {
  let quoted = "";
  for (let at = start; at < text.length; at++) {
    const character = text[at] ?? "";
    if (character === '"') return { text: quoted, end: at };
    const next = text[at + 1] ?? "";
    if (character === "\\" && '$`"\\\n'.includes(next) && next !== "") {
      at += 1;
      if (next !== "\n") quoted += next;
    } else quoted += character;
  }
  return undefined;
}
