/** A word that cannot be confused with the surrounding sentence. */
const word = /^[\w.@+*:/[\]-]+$/;
/** Characters that could pass for the closing quote: quotation marks of any script, and marks that look like them. */
const quoteLike = /(?!["'])[\p{Quotation_Mark}\u02ba\u02dd\u02ee\u2033\u2036]/gu;

/**
 * Quotes a text of a skill or a model for use within a sentence, which the text cannot continue; one plain word stays unquoted. If the
 * text has more than `maxLength` characters, only its start and end are shown.
 */
export function quoted(text: string, { maxLength = 256, plain = word } = {}): string {
  if (text.length <= maxLength && plain.test(text)) return text;
  const characters = Array.from(text);
  const half = Math.ceil(maxLength / 2);
  const isShort = characters.length <= maxLength;
  const shown = isShort ? text : `${characters.slice(0, half).join("")}…${characters.slice(-half).join("")}`;
  return JSON.stringify(shown).replace(quoteLike, (mark) => `\\u{${(mark.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Quotes a word of a shell command that the user copies, if necessary. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
