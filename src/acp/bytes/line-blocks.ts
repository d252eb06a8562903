const newline = 10;

/** Cuts a stream of bytes into blocks of complete lines, each with its line break. */
export interface LineBlocks {
  /** The complete lines that this chunk completes, in order, as none, one or two blocks. */
  push(chunk: Buffer): readonly Buffer[];
  /** What came after the last line break. */
  rest(): Buffer | undefined;
}

/** Takes time linear in the bytes, however they are cut: only a line that arrives in parts is copied, once, when it ends. */
export function openLineBlocks(): LineBlocks {
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
    rest() {
      const rest = tail.length === 0 ? undefined : Buffer.concat(tail);
      tail = [];
      return rest;
    },
  };
}
