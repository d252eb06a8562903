/** The lines of a byte stream, split at `\n` only; the last line may lack it. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  let parts: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      yield toText([...parts, chunk.subarray(start, end)]);
      parts = [];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  }
  if (parts.length > 0) yield toText(parts);
}

const newline = 0x0a;

function toText(parts: readonly Uint8Array[]): string {
  return Buffer.concat(parts).toString("utf8");
}
