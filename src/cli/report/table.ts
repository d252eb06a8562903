import { safeText } from "./safe-text.ts";
import type { Terminal } from "./terminal.ts";

/** The minimum width of the last column. */
const minLastColumnWidth = 20;

/**
 * Formats a heading and rows in aligned columns. Omits columns that are empty in every row, and truncates the last column at the width of
 * the terminal.
 */
export function* table(
  titles: readonly string[],
  all: readonly (readonly string[])[],
  { columns, paint }: Pick<Terminal, "columns" | "paint">,
): Iterable<string> {
  const isShown = titles.map((_, column) => all.length === 0 || all.some((row) => row[column] !== ""));
  const [heading = [], ...rows] = [titles, ...all].map((row) => row.filter((_, column) => isShown[column]));
  const last = heading.length - 1;
  const widths = heading.slice(0, last).map((title, index) => {
    return rows.reduce((widest, row) => Math.max(widest, displayWidth(row[index] ?? "")), title.length);
  });
  const used = widths.reduce((sum, width) => sum + width + 2, 0);
  const room = columns === undefined ? Infinity : Math.max(minLastColumnWidth, columns - used);
  const line = (cells: readonly string[]): string => {
    const padded = cells.slice(0, last).map((cell, index) => padToWidth(cell, widths[index] ?? 0));
    const end = cells[last] ?? "";
    return [...padded, room === Infinity ? end : cutToWidth(end, room)].join("  ").trimEnd();
  };
  yield `${paint("dim", line(heading))}\n`;
  for (const row of rows) yield `${line(row)}\n`;
}

/** The columns that a text takes in a terminal: two for wide characters and emoji, none for combining marks. */
export function displayWidth(text: string): number {
  if (printableAscii.test(text)) return text.length;
  let width = 0;
  for (const cluster of graphemes(text)) width += clusterWidth(cluster);
  return width;
}

/** Cuts a text to at most `columns`, with an ellipsis. Never cuts inside a grapheme. */
export function cutToWidth(text: string, columns: number): string {
  if (text.length <= columns && printableAscii.test(text)) return text;
  let width = 0;
  let fitting = "";
  for (const cluster of graphemes(text)) {
    const wide = clusterWidth(cluster);
    if (width + wide > columns) return shorten(fitting, columns);
    width += wide;
    fitting += cluster;
  }
  return fitting;
}

/** Pads a text with spaces. */
export function padToWidth(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - displayWidth(text)));
}

const printableAscii = /^[\x20-\x7e]*$/;
const invisible = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u;
/** East Asian Wide and Fullwidth characters, and emoji. */
const wide =
  /^(?:[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|.\ufe0f)/u;

function* graphemes(text: string): Iterable<string> {
  const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
  for (const { segment } of segmenter.segment(text)) yield segment;
}

function clusterWidth(cluster: string): number {
  if (invisible.test(cluster)) return 0;
  return wide.test(cluster) ? 2 : 1;
}

function shorten(fitting: string, columns: number): string {
  if (columns < 1) return "";
  let rest = fitting;
  while (displayWidth(rest) > columns - 1) rest = Array.from(graphemes(rest)).slice(0, -1).join("");
  return `${rest.trimEnd()}…`;
}

/**
 * Formats rows as CSV (RFC 4180) that is safe to print and to open in a spreadsheet: cells that look like formulas get an apostrophe in
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
