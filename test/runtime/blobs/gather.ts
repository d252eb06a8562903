/** Concatenates all chunks of a stream. */
export async function gather(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const gathered: Uint8Array[] = [];
  for await (const chunk of chunks) gathered.push(chunk);
  return Buffer.concat(gathered);
}

/** Returns a stream of the given chunks. */
export async function* streamOf(...chunks: readonly (Uint8Array | string)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield await Promise.resolve(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
}
