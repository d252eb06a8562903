/** `$ARGUMENTS`, `$ARGUMENTS[N]` and `$N`, counted from 0; a backslash before them keeps them. A spreadsheet's `$B$2` is none. */
const placeholder = /(\\)?(?<!\$[A-Za-z]{1,3})\$(?:ARGUMENTS(?:\[(\d{1,3})\])?|(\d{1,3}))(?!\w)/g;

/** The most characters that all placeholders of one skill may add; those after that stay as they are. */
const mostAdded = 1024 * 1024;

/**
 * A skill's instructions with what a person wrote behind `/name` in the place of their placeholders, as Claude Code fills them: the words
 * are split as a shell splits them, and a number without a word stays. Pure; the words are never searched for placeholders.
 */
export function fillArguments(instructions: string, words: string): string {
  if (!instructions.includes("$")) return instructions;
  const parts = splitWords(words);
  let added = 0;
  return instructions.replace(placeholder, (whole: string, escaped?: string, index?: string, short?: string) => {
    if (escaped !== undefined) return whole.slice(1);
    const number = index ?? short;
    const value = number === undefined ? words : parts[Number(number)];
    if (value === undefined || (added += value.length) > mostAdded) return whole;
    return value;
  });
}

/** Words in quotes are one; a quote without its partner is a character like any other. */
const word = /(?:\\[^]|"(?:\\[^]|[^"\\])*"|'[^']*'|[^\s\\]|\\$)+/g;
const quoted = /\\([^])|"((?:\\[^]|[^"\\])*)"|'([^']*)'/g;

/** Only so much of a text is split: a longer one is no list of arguments. */
const longestSplit = 64 * 1024;

function splitWords(words: string): string[] {
  return (words.slice(0, longestSplit).match(word) ?? []).map((text) =>
    text.replace(quoted, (_whole, escaped?: string, double?: string, single?: string) =>
      double === undefined ? (escaped ?? single ?? "") : double.replace(/\\(["\\$`])/g, "$1"),
    ),
  );
}
