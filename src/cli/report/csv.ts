import { safeText } from "./safe-text.ts";

/**
 * Rows as CSV (RFC 4180), safe to print and to open in a spreadsheet: a cell that a spreadsheet would calculate gets an apostrophe in
 * front.
 */
export function* csv(heading: readonly string[], rows: Iterable<readonly string[]>): Iterable<string> {
  yield toLine(heading);
  for (const row of rows) yield toLine(row);
}

function toLine(cells: readonly string[]): string {
  return `${cells.map(toCell).join(",")}\r\n`;
}

/** Some spreadsheets skip blanks before a formula, and read full-width signs as the usual ones. */
const formula = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/;

function toCell(text: string): string {
  const plain = safeText(text);
  const inert = formula.test(plain) ? `'${plain}` : plain;
  return /[",\s]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
