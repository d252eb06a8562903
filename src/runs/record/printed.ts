/** The beginning and the end of a stream, in bounded memory. */
export interface KeptBytes {
  readonly push: (bytes: Uint8Array) => void;
  /** Everything, or both ends with a line between them that says how many bytes are missing. */
  readonly read: () => Buffer;
  /** Bytes pushed so far. */
  readonly size: number;
  readonly isCut: boolean;
}

export function keepBytes(limit: number): KeptBytes {
  const headLimit = Math.floor(limit / 2);
  const tailLimit = limit - headLimit;
  const head: Uint8Array[] = [];
  const tail: Uint8Array[] = [];
  let headSize = 0;
  let tailSize = 0;
  let size = 0;
  return {
    get size() {
      return size;
    },
    get isCut() {
      return size > limit;
    },
    push(bytes) {
      size += bytes.length;
      const room = headLimit - headSize;
      if (room > 0) {
        head.push(new Uint8Array(bytes.subarray(0, room)));
        headSize += Math.min(room, bytes.length);
        joinMany(head);
      }
      const rest = room > 0 ? bytes.subarray(room) : bytes;
      if (rest.length === 0) return;
      tail.push(new Uint8Array(rest.subarray(Math.max(0, rest.length - tailLimit))));
      tailSize += tail.at(-1)?.length ?? 0;
      // Pieces that the tail no longer needs.
      while (tailSize - (tail[0]?.length ?? 0) >= tailLimit) tailSize -= tail.shift()?.length ?? 0;
      joinMany(tail);
    },
    read() {
      const end = Buffer.concat(tail);
      if (size <= limit) return Buffer.concat([...head, end]);
      const gap = Buffer.from(`\n… ${size - limit} bytes omitted …\n`);
      return Buffer.concat([...head, gap, end.subarray(end.length - tailLimit)]);
    },
  };
}

const maxPieces = 256;

/** Each piece costs a hundred bytes of its own: many small ones must not add up. */
function joinMany(pieces: Uint8Array[]): void {
  if (pieces.length > maxPieces) pieces.splice(0, pieces.length, Buffer.concat(pieces));
}

/** Text on its way to a listener. */
export interface ToldLines {
  readonly push: (text: string) => void;
  /** Flushes an unfinished last line. */
  readonly end: () => void;
}

const longestPiece = 2_048;
const maxTold = 1_000;
const maxCharacters = 64 * 1024;

/** Passes text on by whole lines, batched as they arrive, up to a limit that keeps a flood from the listener. */
export function tellLines(tell: (text: string) => void): ToldLines {
  let held = "";
  let told = 0;
  let characters = 0;

  function flush(text: string): void {
    for (let start = 0; start < text.length; start += longestPiece) {
      if (told > maxTold || characters > maxCharacters) return;
      const piece = text.slice(start, start + longestPiece);
      told += 1;
      characters += piece.length;
      const isLast = told > maxTold || characters > maxCharacters;
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
