/** A word that cannot be taken for a part of our sentence. */
const word = /^[\w.@+*:/[\]-]+$/;
/** What could pass for the quote at the end: quotation marks of any script, and marks that look like them. */
const quoteLike = /(?!["'])[\p{Quotation_Mark}\u02ba\u02dd\u02ee\u2033\u2036]/gu;

/**
 * A text of a skill or a model as part of our own sentence, which it cannot continue: in quotes unless it is one plain word. Of a text with
 * more than `longest` characters, only the start and the end.
 */
export function quoted(text: string, { longest = 256, plain = word } = {}): string {
  if (text.length <= longest && plain.test(text)) return text;
  const characters = Array.from(text);
  const half = Math.ceil(longest / 2);
  const isShort = characters.length <= longest;
  const shown = isShort ? text : `${characters.slice(0, half).join("")}…${characters.slice(-half).join("")}`;
  return JSON.stringify(shown).replace(quoteLike, (mark) => `\\u{${(mark.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A word of a command that a person copies into a shell, quoted if necessary. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
