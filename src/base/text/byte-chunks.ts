/** Regroups the bytes of `pieces` into chunks of `size` bytes; the last one may be smaller. Each chunk has memory of its own. */
export async function* inChunks(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  size: number,
): AsyncGenerator<Buffer> {
  let chunk: Buffer | undefined;
  let filled = 0;
  for await (const bytes of pieces)
    for (let at = 0; at < bytes.length;) {
      chunk ??= Buffer.allocUnsafeSlow(size);
      const more = bytes.subarray(at, at + size - filled);
      chunk.set(more, filled);
      [at, filled] = [at + more.length, filled + more.length];
      if (filled < size) continue;
      yield chunk;
      [chunk, filled] = [undefined, 0];
    }
  if (chunk !== undefined) yield chunk.subarray(0, filled);
}
