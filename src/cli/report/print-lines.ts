import { safeLines } from "./safe-text.ts";

/** What code prints, on its way to a person. */
export interface PrintedLines {
  readonly push: (text: string) => void;
  /** Prints what is left of the last line. */
  readonly end: () => void;
}

/** Prints text made safe, by whole lines: a command to a CI system is not recognised in the halves of one. */
export function printLines(write: (text: string) => void): PrintedLines {
  let held = "";
  return {
    push(text) {
      held += text;
      const end = held.lastIndexOf("\n") + 1;
      if (end > 0) write(safeLines(held.slice(0, end)));
      held = held.slice(end);
    },
    end() {
      if (held !== "") write(safeLines(held));
      held = "";
    },
  };
}
