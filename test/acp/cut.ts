/** Cuts bytes into chunks of the given sizes, in order; a size of 0 is an empty chunk. */
export function cut(bytes: Buffer, sizes: Iterator<number>): Buffer[] {
  const chunks: Buffer[] = [];
  for (let from = 0; from < bytes.length;) {
    const next = sizes.next();
    const size = next.done === true ? bytes.length : next.value;
    chunks.push(bytes.subarray(from, from + size));
    from += size;
  }
  return chunks;
}
