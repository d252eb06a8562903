/** Splits a stream of bytes into blocks of complete lines. */
export interface LineBlocks {
  /** The lines that this chunk completes, as up to two blocks. */
  push(chunk: Buffer): readonly Buffer[];
  /** Whether there are bytes after the last line break. */
  isInside(): boolean;
  /** The bytes after the last line break. */
  rest(): Buffer | undefined;
}

/** In linear time: only a line that arrives in parts is copied, once. */
export function createLineBlocks(): LineBlocks {
  let tail: Buffer[] = [];
  return {
    push(chunk) {
      const end = chunk.lastIndexOf(newline) + 1;
      if (end === 0) {
        if (chunk.length > 0) tail.push(chunk);
        return [];
      }
      const first = tail.length === 0 ? 0 : chunk.indexOf(newline) + 1;
      const joined = first === 0 ? [] : [Buffer.concat([...tail, chunk.subarray(0, first)])];
      tail = end === chunk.length ? [] : [chunk.subarray(end)];
      return first === end ? joined : [...joined, chunk.subarray(first, end)];
    },
    isInside: () => tail.length > 0,
    rest() {
      const rest = tail.length === 0 ? undefined : Buffer.concat(tail);
      tail = [];
      return rest;
    },
  };
}

const newline = 10;
