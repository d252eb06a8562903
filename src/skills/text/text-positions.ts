import { countCodePoints } from "./code-points.ts";

/** Starts at 1; columns count code points. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** A position, or a range with an exclusive end. */
export interface TextRange extends TextPosition {
  readonly endLine?: number;
  readonly endColumn?: number;
}

/** The range between two offsets; a position if it is empty or has no end. */
export function toTextRange(positionOf: (offset: number) => TextPosition, offset: number, end = offset): TextRange {
  const start = positionOf(offset);
  if (end <= offset) return start;
  const { line: endLine, column: endColumn } = positionOf(end);
  return { ...start, endLine, endColumn };
}

/**
 * Converts offsets of a text to lines and columns. Lines are found once, and ascending offsets are counted from the previous
 * one, so that many faults cost little more than a single one.
 */
export function openTextPositions(text: string): (offset: number) => TextPosition {
  let starts: readonly number[] | undefined;
  let last = { index: 0, offset: 0, column: 1 };
  return (offset) => {
    starts ??= lineStarts(text);
    const index = lastAtMost(starts, offset);
    const from = index === last.index && last.offset <= offset ? last : { offset: starts[index] ?? 0, column: 1 };
    const column = from.column + countCodePoints(text.slice(from.offset, offset));
    last = { index, offset, column };
    return { line: index + 1, column };
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0x0a || (code === 0x0d && text.charCodeAt(index + 1) !== 0x0a)) starts.push(index + 1);
  }
  return starts;
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
