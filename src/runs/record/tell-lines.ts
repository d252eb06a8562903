/** Text on its way to someone who follows a run. */
export interface ToldLines {
  readonly push: (text: string) => void;
  /** What is left of the last line. */
  readonly end: () => void;
}

const longestPiece = 2_048;
const maxPieces = 1_000;
const maxCharacters = 64 * 1024;

/** Tells text by whole lines, as many as came together; after a while no more of it, so that a flood stays with us. */
export function tellLines(tell: (text: string) => void): ToldLines {
  let held = "";
  let pieces = 0;
  let characters = 0;

  function flush(text: string): void {
    for (let start = 0; start < text.length; start += longestPiece) {
      if (pieces > maxPieces || characters > maxCharacters) return;
      const piece = text.slice(start, start + longestPiece);
      pieces += 1;
      characters += piece.length;
      const isLast = pieces > maxPieces || characters > maxCharacters;
      tell(isLast ? "… (the rest is in the log)\n" : piece);
    }
  }

  return {
    push(text) {
      held += text;
      const end = held.length > longestPiece ? held.length : held.lastIndexOf("\n") + 1;
      flush(held.slice(0, end));
      held = held.slice(end);
    },
    end() {
      flush(held);
      held = "";
    },
  };
}
