/** Begins a copyright statement. */
const statement = /^[ \t>*#/|-]*(?:copyright[ \t]*(?:\(c\)|©|\d|[<[{:])|\(c\)[ \t]*[\d<[{]|©)/i;
/** The same within a line too long to be only that. */
const statementInLine = /\bcopyright(?:\s{1,9}(?:\(c\)|©))?(?:[\s,]{1,9}\d{4}(?:-\d{4})?){1,9}/gi;
/** A statement ends with its paragraph, or with its line if the paragraph is longer. */
const longestStatement = 300;
/** A paragraph such as "Copyright Example, Inc." */
const longestName = 100;
/** Lines with such words are terms, wherever they stand. */
const terms =
  /\b(?:no|not|non|only|except|unless|without|commercial|restrict\w*|prohibited|must|may|use[ds]?|notice|licen[cs]ed?|permi\w+|terms)\b/i;

/** Removes the lines that say who has the copyright. */
export function withoutCopyrightLines(text: string): string {
  const paragraphs = text.split(/\n[ \t\r>*#/|-]*\n/).map((paragraph) => {
    const isName = paragraph.length <= longestName && /\bcopyright\b/i.test(paragraph);
    const lines = paragraph.split("\n");
    const at = isName ? 0 : lines.findIndex((line) => statement.test(line));
    if (at < 0) return paragraph;
    const isShort = lines.slice(at).join("\n").length <= longestStatement;
    const isDropped = (line: string, index: number): boolean =>
      index >= at && (isShort || (line.length <= longestStatement && statement.test(line))) && !terms.test(line);
    return lines.filter((line, index) => !isDropped(line, index)).join("\n");
  });
  return paragraphs
    .join("\n\n")
    .replace(statementInLine, " ")
    .replace(/\ball rights reserved\b/gi, " ");
}
