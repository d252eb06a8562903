import { cutToWidth, displayWidth } from "./columns.ts";
import { safeText } from "./safe-text.ts";
import type { Paint } from "./terminal.ts";

/** A position in a file, and how to read the lines around it. */
interface FramePlace {
  readonly line: number;
  /** From 1, in code points. */
  readonly column: number;
  /** The end of the marked span, exclusive; without it, one character is marked. */
  readonly endColumn?: number | undefined;
  readonly sourceLine: (line: number) => string | undefined;
}

/**
 * The line of the position, with the ones before and after it, and carets under the span. Of long lines, shows the part
 * around the column. Empty if the line does not exist.
 */
export function codeFrame(
  { line, column, endColumn = 0, sourceLine }: FramePlace,
  columns: number,
  paint: Paint,
): string[] {
  const meant = sourceLine(line);
  if (meant === undefined) return [];
  const numbers = String(line + 1).length;
  const room = Math.max(20, columns - numbers - 7);
  const points = Array.from(meant);
  const before = safeText(points.slice(0, column - 1).join(""));
  const skipped = skippedPoints(points, column, room);
  const visibleBefore = skipped === 0 ? before : `…${safeText(points.slice(skipped, column - 1).join(""))}`;
  const meantText = visibleBefore + safeText(points.slice(column - 1).join(""));

  const rows: string[] = [];
  const row = (number: number, text: string, marked: boolean): void => {
    const gutter = `${marked ? ">" : " "} ${String(number).padStart(numbers)} |`;
    rows.push(`${paint(marked ? "red" : "dim", gutter)} ${cutToWidth(text, room)}`.trimEnd());
  };
  const previous = line > 1 ? sourceLine(line - 1) : undefined;
  if (previous !== undefined) row(line - 1, safeText(previous), false);
  row(line, meantText, true);
  const indent = displayWidth(visibleBefore);
  const span = displayWidth(safeText(points.slice(column - 1, Math.max(column, endColumn - 1)).join("")).trimEnd());
  const marks = "^".repeat(Math.max(1, Math.min(span, room - indent)));
  rows.push(`${paint("dim", `  ${" ".repeat(numbers)} |`)} ${" ".repeat(indent)}${paint("red", marks)}`);
  const next = sourceLine(line + 1);
  if (next !== undefined) row(line + 1, safeText(next), false);
  return rows;
}

/** How many code points at the start of a line to omit so that the column is visible, with some text before it. */
function skippedPoints(points: readonly string[], column: number, room: number): number {
  let skipped = 0;
  let width = displayWidth(safeText(points.slice(0, column).join("")));
  const wanted = Math.floor((room * 2) / 3);
  while (width > wanted && skipped < column - 1) {
    width -= displayWidth(safeText(points[skipped] ?? ""));
    skipped++;
  }
  return skipped;
}
