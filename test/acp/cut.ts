/** Cuts bytes into chunks of the given sizes, in order; a size of 0 is an empty chunk. */
export function cut(bytes: Buffer, sizes: Iterator<number>): Buffer[] {
  const chunks: Buffer[] = [];
  for (let from = 0; from < bytes.length;) {
    const { value, done } = sizes.next();
    const size = done === true ? bytes.length : value;
    chunks.push(bytes.subarray(from, from + size));
    from += size;
  }
  return chunks;
}
