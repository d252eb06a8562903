const newline = 10;

/** Cuts a stream of bytes into blocks of complete lines, each with its line break. */
export interface LineBlocks {
  /** The complete lines that this chunk completes, as one block; undefined where it completes none. */
  push(chunk: Buffer): Buffer | undefined;
  /** What came after the last line break. */
  rest(): Buffer | undefined;
}

/** Takes time linear in the bytes, however they are cut: an incomplete line is joined once, when it ends. */
export function openLineBlocks(): LineBlocks {
  let tail: Buffer[] = [];
  return {
    push(chunk) {
      const end = chunk.lastIndexOf(newline) + 1;
      if (end === 0) {
        if (chunk.length > 0) tail.push(chunk);
        return undefined;
      }
      const lines = end === chunk.length ? chunk : chunk.subarray(0, end);
      const block = tail.length === 0 ? lines : Buffer.concat([...tail, lines]);
      tail = end === chunk.length ? [] : [chunk.subarray(end)];
      return block;
    },
    rest() {
      const rest = tail.length === 0 ? undefined : Buffer.concat(tail);
      tail = [];
      return rest;
    },
  };
}
