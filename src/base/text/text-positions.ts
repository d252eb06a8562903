import type { TextRange } from "../failures/file-problem.ts";
import { countCodePoints } from "./code-points.ts";

type TextPosition = Pick<TextRange, "line" | "column">;

/** The range between two offsets; without an end if it is empty. */
export function toTextRange(positionOf: (offset: number) => TextPosition, offset: number, end = offset): TextRange {
  const start = positionOf(offset);
  if (end <= offset) return start;
  const { line: endLine, column: endColumn } = positionOf(end);
  return { line: start.line, column: start.column, endLine, endColumn };
}

/** Converts offsets of a text to lines and columns; `firstLine` is the number of its first line. Finds the lines once, on first use. */
export function createTextPositions(text: string, firstLine = 1): (offset: number) => TextPosition {
  let starts: readonly number[] | undefined;
  return (offset) => {
    starts ??= lineStarts(text);
    const index = starts.findLastIndex((start) => start <= offset);
    return { line: firstLine + index, column: countCodePoints(text.slice(starts[index], offset)) + 1 };
  };
}

function lineStarts(text: string): readonly number[] {
  const lineEnd = /\r\n?|\n/g;
  const starts = [0];
  while (lineEnd.test(text)) starts.push(lineEnd.lastIndex);
  return starts;
}
