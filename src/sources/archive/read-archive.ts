import { createGunzip } from "node:zlib";
import {
  type ArchiveContent,
  type ArchiveOptions,
  badArchive,
  decompress,
  inPieces,
  pieceBytes,
} from "./archive-content.ts";
import { readTar } from "./read-tar.ts";
import { readZip } from "./read-zip.ts";

/**
 * The files of a tar archive, with or without gzip, or of a zip archive, recognised by its first bytes. Unpacks in pieces outside this
 * thread, and stops at a limit. Throws SOURCE_INVALID; rejects with the reason of `signal`.
 */
export async function readArchive(
  packed: Uint8Array,
  options: ArchiveOptions,
  signal: AbortSignal,
): Promise<ArchiveContent> {
  const isZip = packed[0] === 0x50 && packed[1] === 0x4b && (packed[2] ?? 0) < 0x20;
  if (isZip) return await readZip(packed, options, signal);
  const isGzip = packed[0] === 0x1f && packed[1] === 0x8b;
  return await readTar(abortable(isGzip ? unzipped(packed) : inPieces(packed), signal), options);
}

async function* unzipped(packed: Uint8Array): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: pieceBytes });
  yield* decompress(packed, gunzip);
  // What follows the end is dropped without a word otherwise.
  if (gunzip.bytesWritten !== packed.length) throw badArchive("has content after its end");
}

async function* abortable(source: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  signal.throwIfAborted();
  for await (const chunk of source) {
    yield chunk;
    signal.throwIfAborted();
  }
}
