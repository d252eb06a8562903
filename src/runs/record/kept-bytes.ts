/** The beginning and the end of a stream, in bounded memory. */
export interface KeptBytes {
  readonly push: (bytes: Uint8Array) => void;
  /** Everything, or both ends with a line between them that says how much is missing. */
  readonly read: () => Buffer;
  /** Bytes that were pushed. */
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
      // Whole pieces that the end has outgrown.
      while (tailSize - (tail[0]?.length ?? 0) >= tailLimit) tailSize -= tail.shift()?.length ?? 0;
      joinMany(tail);
    },
    read() {
      const end = Buffer.concat(tail);
      if (size <= limit) return Buffer.concat([...head, end]);
      const gap = Buffer.from(`\n… ${size - limit} bytes left out …\n`);
      return Buffer.concat([...head, gap, end.subarray(end.length - tailLimit)]);
    },
  };
}

const maxPieces = 256;

/** Each piece takes a hundred bytes beside its own: many small ones must not add up. */
function joinMany(pieces: Uint8Array[]): void {
  if (pieces.length > maxPieces) pieces.splice(0, pieces.length, Buffer.concat(pieces));
}
