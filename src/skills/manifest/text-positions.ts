import type { TextRange } from "../../base/failures/file-problem.ts";
import { countCodePoints } from "../../base/text/code-points.ts";

type TextPosition = Pick<TextRange, "line" | "column">;

/** The range between two offsets; a position if it is empty or has no end. */
export function toTextRange(positionOf: (offset: number) => TextPosition, offset: number, end = offset): TextRange {
  const start = positionOf(offset);
  if (end <= offset) return start;
  const { line: endLine, column: endColumn } = positionOf(end);
  return { line: start.line, column: start.column, endLine, endColumn };
}

/**
 * Converts offsets of a text to lines and columns; `firstLine` is the number of its first line. Lines are found once, as far as they
 * are needed, and ascending offsets are counted from the previous one, so that many faults cost little more than a single one.
 */
export function createTextPositions(text: string, firstLine = 1): (offset: number) => TextPosition {
  const starts = [0];
  let next = nextLine(text, 0);
  let last = { index: 0, offset: 0, column: 1 };
  return (offset) => {
    for (; next <= Math.min(offset, text.length); next = nextLine(text, next)) starts.push(next);
    const index = lastAtMost(starts, offset);
    const from = index === last.index && last.offset <= offset ? last : { offset: starts[index] ?? 0, column: 1 };
    const column = from.column + countCodePoints(text.slice(from.offset, offset));
    last = { index, offset, column };
    return { line: firstLine + index, column };
  };
}

const lineEnd = /\r\n?|\n/g;

/** The start of the line after the one that contains an offset; beyond the end of the text if that is the last line. */
function nextLine(text: string, from: number): number {
  lineEnd.lastIndex = from;
  return lineEnd.test(text) ? lineEnd.lastIndex : text.length + 1;
}

/** The index of the last of these ascending numbers that is at most `limit`. */
function lastAtMost(numbers: readonly number[], limit: number): number {
  let low = 0;
  let high = numbers.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((numbers[middle] ?? Infinity) <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}
