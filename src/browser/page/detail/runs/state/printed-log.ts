import type { ShownRun } from "../../../../wire/runs.ts";

/** The retained output of a run. A longer last piece replaces the last one; other pieces never change. */
export interface PrintedLog {
  readonly pieces: readonly LogPiece[];
  /** The number of characters that the run has printed, retained or not. */
  readonly end: number;
}

/** `at`: the offset of the piece's first character in all that the run printed. */
type LogPiece = ShownRun["printed"];

export const emptyLog: PrintedLog = { pieces: [], end: 0 };

const maxRetainedLength = 256 * 1024;
const pieceLength = 16 * 1024;

/** Appends a piece, which may overlap the log or leave a gap after it. Beyond 256 KiB, the oldest pieces are dropped. */
export function appendPrinted(log: PrintedLog, added: LogPiece): PrintedLog {
  const known = Math.max(0, log.end - added.at);
  const text = added.text.slice(known);
  if (text === "") return log;
  const at = added.at + known;
  const last = log.pieces.at(-1);
  const grows =
    last !== undefined && last.at + last.text.length === at && last.text.length + text.length <= pieceLength;
  const pieces = grows
    ? [...log.pieces.slice(0, -1), { at: last.at, text: last.text + text }]
    : [...log.pieces, { at, text }];
  const end = at + text.length;
  return { end, pieces: pieces.filter((piece) => piece.at + piece.text.length > end - maxRetainedLength) };
}

/** The number of characters missing before a piece. */
export function gapBefore({ pieces }: PrintedLog, index: number): number {
  const before = pieces[index - 1];
  return (pieces[index]?.at ?? 0) - (before === undefined ? 0 : before.at + before.text.length);
}
