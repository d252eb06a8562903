import { gunzip } from "node:zlib";
import { type Steps, runInSlices, unlessAborted } from "../../base/promises.ts";
import { ArchiveCollector, type ArchiveContent, type ArchiveOptions, badArchive, inflate } from "./archive-content.ts";
import { readZip } from "./read-zip.ts";
import { type TarHeader, blockSize, paddingAfter, parsePax, parseTarHeader, parseText } from "./tar-header.ts";

/** The maximum size of one extended header or long name, in bytes. */
const metadataBytes = 64 * 1024;

/**
 * Reads the files of a zip archive, or of a tar archive with or without gzip; the first bytes decide which. The files are slices of the
 * archive unpacked in memory, outside this thread and up to a limit; nothing is written. Throws SOURCE_INVALID for anything but a plain
 * file or directory with a usable path, and for content after the end. Rejects with the reason of `signal`.
 */
export async function readArchive(
  packed: Uint8Array,
  options: ArchiveOptions,
  signal: AbortSignal,
): Promise<ArchiveContent> {
  signal.throwIfAborted();
  const collector = new ArchiveCollector(options);
  const isZip = packed[0] === 0x50 && packed[1] === 0x4b && (packed[2] ?? 0) < 0x20;
  if (isZip) return await readZip(packed, collector, signal);
  const isGzip = packed[0] === 0x1f && packed[1] === 0x8b;
  const { unpacked } = collector.limits;
  const tooLarge = `unpacks to more than ${unpacked} bytes`;
  if (!isGzip && packed.length > unpacked) throw badArchive(tooLarge);
  const tar = isGzip ? await unlessAborted(inflate(gunzip, packed, unpacked, tooLarge), signal) : Buffer.from(packed);
  return collector.end(await runInSlices(readTar(tar, collector)));
}

/** Reads a tar archive. Returns the commit that the archive claims to be of. */
function* readTar(tar: Buffer, collector: ArchiveCollector): Steps<string | undefined> {
  let commit: string | undefined;
  /** The fields that earlier headers announce for the next entry. */
  let announced: Partial<Pick<TarHeader, "name" | "size" | "target">> = {};
  let at = 0;
  const take = (size: number): Buffer => {
    if (at + size > tar.length) throw badArchive("ends early");
    at += size;
    return tar.subarray(at - size, at);
  };
  const takeContent = (size: number): Buffer => take(size + paddingAfter(size)).subarray(0, size);
  const takeMetadata = ({ size }: TarHeader): Buffer => {
    if (size > metadataBytes) throw badArchive(`has an extended header of more than ${metadataBytes} bytes`);
    return takeContent(size);
  };
  for (;;) {
    yield undefined;
    const block = take(blockSize);
    if (block.every((byte) => byte === 0)) break;
    collector.countEntry();
    const header = parseTarHeader(block);
    if (header.type === "g") commit = commitOf(parsePax(takeMetadata(header))) ?? commit;
    else if (header.type === "x") announced = { ...announced, ...fromPax(parsePax(takeMetadata(header))) };
    else if (header.type === "L") announced = { ...announced, name: parseText(takeMetadata(header)) };
    else if (header.type === "K") announced = { ...announced, target: parseText(takeMetadata(header)) };
    else {
      addEntry({ ...header, ...announced }, takeContent, collector);
      announced = {};
    }
  }
  if (Object.keys(announced).length > 0) throw badArchive("ends early");
  take(blockSize);
  const rest = tar.subarray(at - blockSize);
  if (!rest.equals(Buffer.alloc(rest.length))) throw badArchive("has content after its end");
  return commit;
}

function addEntry(
  { name, size, type, executable, target }: TarHeader,
  takeContent: (size: number) => Buffer,
  collector: ArchiveCollector,
): void {
  if (type === "1" || type === "2") {
    collector.addLink(name, target);
    takeContent(size);
  } else if (type === "5" || (type === "0" && name.endsWith("/"))) {
    if (size !== 0) throw badArchive("has a directory with content");
    collector.addDirectory(name);
  } else if (type === "0") {
    const path = collector.admitFile(name, size);
    const bytes = takeContent(size);
    if (path !== undefined) collector.addFile({ path, bytes, executable });
  } else throw badArchive(`has an entry of type ${JSON.stringify(type)}; only files and directories are unpacked`);
}

function fromPax(records: ReadonlyMap<string, string>): Partial<TarHeader> {
  const name = records.get("path");
  const target = records.get("linkpath");
  const size = records.get("size");
  if (size !== undefined && !/^[0-9]{1,15}$/.test(size)) throw badArchive("has a damaged extended header");
  return {
    ...(name !== undefined && { name }),
    ...(target !== undefined && { target }),
    ...(size !== undefined && { size: Number(size) }),
  };
}

/** Returns the commit that `git archive` writes. Throws for records that would change the meaning of all entries. */
function commitOf(records: ReadonlyMap<string, string>): string | undefined {
  if (records.has("path") || records.has("size") || records.has("linkpath"))
    throw badArchive("has an extended header that renames all its entries");
  const comment = records.get("comment") ?? "";
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(comment) ? comment : undefined;
}
