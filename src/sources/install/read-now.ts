import type { RemoteIndex, SourceReader } from "../reader.ts";
import type { Source } from "../source.ts";

/** What a source offers now. */
export async function readNow(reader: SourceReader, source: Source, signal: AbortSignal): Promise<RemoteIndex> {
  const index = await reader.read(source, undefined, signal);
  if (index === undefined) throw new TypeError("not asked whether it changed");
  return index;
}
