/** Splits a stream of bytes into blocks of complete lines, in linear time: only a line that arrives in several chunks is copied, once. */
export class LineBlocks {
  #tail: Buffer[] = [];
  /** The number of bytes after the last line break. */
  pending = 0;

  /** The lines that this chunk completes, as up to two blocks. */
  push(chunk: Buffer): readonly Buffer[] {
    const end = chunk.lastIndexOf(newline) + 1;
    this.pending = chunk.length - end + (end === 0 ? this.pending : 0);
    if (end === 0) {
      if (chunk.length > 0) this.#tail.push(chunk);
      return [];
    }
    const first = this.#tail.length === 0 ? 0 : chunk.indexOf(newline) + 1;
    const joined = first === 0 ? [] : [Buffer.concat([...this.#tail, chunk.subarray(0, first)])];
    this.#tail = end === chunk.length ? [] : [chunk.subarray(end)];
    return first === end ? joined : [...joined, chunk.subarray(first, end)];
  }

  /** The lines that this chunk completes, one by one, with their line breaks. */
  *lines(chunk: Buffer): Generator<Buffer, void> {
    for (const block of this.push(chunk))
      for (let at = 0, end = 0; at < block.length; at = end) {
        end = block.indexOf(newline, at) + 1;
        yield block.subarray(at, end);
      }
  }

  /** Whether there are bytes after the last line break. */
  isInside(): boolean {
    return this.pending > 0;
  }

  /** The bytes after the last line break. */
  rest(): Buffer | undefined {
    const rest = this.isInside() ? Buffer.concat(this.#tail) : undefined;
    this.#tail = [];
    this.pending = 0;
    return rest;
  }
}

const newline = 10;
