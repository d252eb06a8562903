import { safeLines } from "./safe-text.ts";

export interface PrintedLines {
  readonly push: (text: string) => void;
  /** Writes the rest of the last line. */
  readonly end: () => void;
}

/** Writes text by whole lines, rewritten and then made safe: workflow commands cannot be recognised in part of a line. */
export function printLines(write: (text: string) => void, rewrite = (text: string): string => text): PrintedLines {
  let held = "";
  return {
    push(text) {
      held += text;
      const end = held.lastIndexOf("\n") + 1;
      if (end > 0) write(safeLines(rewrite(held.slice(0, end))));
      held = held.slice(end);
    },
    end() {
      if (held !== "") write(safeLines(rewrite(held)));
      held = "";
    },
  };
}
