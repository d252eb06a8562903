import type { Paint } from "./colour.ts";
import { cutToWidth, displayWidth, padToWidth } from "./display-width.ts";

/** The minimum width of the last column. */
const leastLastColumn = 20;

/** A heading and rows in aligned columns; the last column is truncated at the width of the terminal. */
export function* table(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number | undefined,
  paint: Paint,
): Iterable<string> {
  const last = heading.length - 1;
  const widths = heading.slice(0, last).map((title, index) => {
    return rows.reduce((widest, row) => Math.max(widest, displayWidth(row[index] ?? "")), title.length);
  });
  const used = widths.reduce((sum, width) => sum + width + 2, 0);
  const room = columns === undefined ? Infinity : Math.max(leastLastColumn, columns - used);
  const line = (cells: readonly string[]): string => {
    const padded = cells.slice(0, last).map((cell, index) => padToWidth(cell, widths[index] ?? 0));
    const end = cells[last] ?? "";
    return [...padded, room === Infinity ? end : cutToWidth(end, room)].join("  ").trimEnd();
  };
  yield `${paint("dim", line(heading))}\n`;
  for (const row of rows) yield `${line(row)}\n`;
}

/** A number with its noun: `1 skill`, `2 skills`. */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
