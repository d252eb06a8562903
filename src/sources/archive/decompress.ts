import type { Gunzip, InflateRaw } from "node:zlib";
import { badArchive } from "./archive-content.ts";

/** What a stream of zlib makes of these bytes, in pieces. Throws SOURCE_INVALID where they are damaged. */
export async function* decompress(packed: Uint8Array, stream: Gunzip | InflateRaw): AsyncGenerator<Uint8Array, void> {
  stream.end(packed);
  try {
    for await (const piece of stream) yield piece as Uint8Array;
  } catch (error) {
    throw badArchive("is damaged: it cannot be unzipped", error);
  }
}
