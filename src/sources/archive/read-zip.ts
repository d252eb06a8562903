import { crc32, createInflateRaw } from "node:zlib";
import { ArchiveCollector, type ArchiveContent, type ArchiveOptions, badArchive } from "./archive-content.ts";
import { decompress } from "./decompress.ts";
import { inPieces, pieceBytes } from "./in-pieces.ts";
import { type ZipEntry, readZipDirectory } from "./zip-directory.ts";

const targetBytes = 4_096;

/** The files of a zip archive, by the same rules as `readTar`. Only files that are extracted are unpacked. */
export async function readZip(
  packed: Uint8Array,
  options: ArchiveOptions,
  signal: AbortSignal,
): Promise<ArchiveContent> {
  const collector = new ArchiveCollector(options);
  for (const entry of readZipDirectory(packed)) {
    signal.throwIfAborted();
    collector.countEntry();
    switch (entry.kind) {
      case "directory":
        if (entry.size !== 0) throw badArchive("has a directory with content");
        collector.addDirectory(entry.name);
        break;
      case "link":
        if (entry.size > targetBytes) throw badArchive("has a link with a long target");
        collector.addLink(entry.name, Buffer.from(await unpack(entry)).toString());
        break;
      case "file": {
        const path = collector.admitFile(entry.name, entry.size);
        if (path !== undefined) collector.addFile({ path, bytes: await unpack(entry), executable: entry.executable });
      }
    }
  }
  return collector.end();
}

/** A copy of its own, checked. The size was admitted. */
async function unpack({ content, compressed, size, crc }: ZipEntry): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(size);
  let length = 0;
  let sum = 0;
  const pieces = compressed ? decompress(content, createInflateRaw({ chunkSize: pieceBytes })) : inPieces(content);
  for await (const piece of pieces) {
    if (length + piece.length > size) throw badArchive("has an entry that is larger than it says");
    bytes.set(piece, length);
    length += piece.length;
    sum = crc32(piece, sum);
  }
  if (length !== size || sum !== crc) throw badArchive("is damaged: a checksum is wrong");
  return bytes;
}
