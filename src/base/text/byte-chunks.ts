/** Regroups the bytes of `pieces` into chunks of `size` bytes; the last one may be smaller. Each chunk has memory of its own. */
export async function* inParts(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  size: number,
): AsyncGenerator<Buffer> {
  let part: Buffer | undefined;
  let filled = 0;
  for await (const bytes of pieces)
    for (let at = 0; at < bytes.length;) {
      part ??= Buffer.allocUnsafeSlow(size);
      const more = bytes.subarray(at, at + size - filled);
      part.set(more, filled);
      [at, filled] = [at + more.length, filled + more.length];
      if (filled < size) continue;
      yield part;
      [part, filled] = [undefined, 0];
    }
  if (part !== undefined) yield part.subarray(0, filled);
}
