import { crc32, inflateRaw } from "node:zlib";
import { type ArchiveCollector, type ArchiveContent, badArchive, decodePath, inflate } from "./archive-content.ts";

const targetBytes = 4_096;

/** Reads the files of a zip archive by the rules of `readArchive`. Only files that are extracted are unpacked. */
export async function readZip(
  packed: Uint8Array,
  collector: ArchiveCollector,
  signal: AbortSignal,
): Promise<ArchiveContent> {
  for (const entry of readZipDirectory(packed)) {
    signal.throwIfAborted();
    collector.countEntry();
    const { name, kind, size, executable } = entry;
    if (kind === "directory") {
      if (size !== 0) throw badArchive("has a directory with content");
      collector.addDirectory(name);
    } else if (kind === "link") {
      if (size > targetBytes) throw badArchive("has a link with a long target");
      collector.addLink(name, (await unpack(entry)).toString());
    } else {
      const path = collector.admitFile(name, size);
      if (path !== undefined) collector.addFile({ path, bytes: await unpack(entry), executable });
    }
  }
  return collector.end();
}

/** Unpacks an entry whose size was admitted. */
async function unpack({ content, compressed, size, crc }: ZipEntry): Promise<Buffer> {
  const larger = "has an entry that is larger than it says";
  const bytes = compressed ? await inflate(inflateRaw, content, Math.max(size, 1), larger) : content;
  if (bytes.length !== size || crc32(bytes) !== crc) throw badArchive("is damaged: a checksum is wrong");
  return bytes;
}

/** One entry of the central directory of a zip archive, whose local header agrees. */
interface ZipEntry {
  readonly name: string;
  readonly kind: "file" | "directory" | "link";
  readonly executable: boolean;
  readonly compressed: boolean;
  readonly crc: number;
  readonly size: number;
  /** The packed bytes. */
  readonly content: Buffer;
}

const endSize = 22;
const maxCommentBytes = 0xffff;
const centralSize = 46;
const localSize = 30;
const zip64 = { count: 0xffff, size: 0xffffffff };
/** The flags of encrypted or patched entries, and of a hidden directory. */
const unsupportedFlags = 0x0001 | 0x0020 | 0x0040 | 0x2000;
/** The flag of an entry whose sizes follow its content instead of preceding it. */
const laterSizes = 0x0008;
const deflated = 8;
/** The systems whose attributes contain the mode of a file. */
const unixSystems: ReadonlySet<number> = new Set([3, 19]);

/**
 * Yields the entries of a zip archive in the order of its central directory. Throws SOURCE_INVALID if a local header disagrees, contents
 * overlap or are out of order, or anything but the end record follows: other programs would see another archive.
 */
function* readZipDirectory(packed: Uint8Array): Generator<ZipEntry, void> {
  const view = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const { count, start, end } = findDirectory(view);
  let at = start;
  let contentEnd = 0;
  for (let index = 0; index < count; index += 1) {
    if (at + centralSize > end || view.readUInt32LE(at) !== 0x02014b50) throw damaged();
    const nameLength = view.readUInt16LE(at + 28);
    const next = at + centralSize + nameLength + view.readUInt16LE(at + 30) + view.readUInt16LE(at + 32);
    if (next > end) throw damaged();
    const central = view.subarray(at, next);
    const offset = central.readUInt32LE(42);
    if (offset < contentEnd) throw badArchive("has overlapping entries, or entries out of order");
    const { entry, end: entryEnd } = readEntry(view, central, offset, start);
    contentEnd = entryEnd;
    at = next;
    yield entry;
  }
  if (at !== end) throw damaged();
}

function findDirectory(view: Buffer): { readonly count: number; readonly start: number; readonly end: number } {
  const earliest = Math.max(0, view.length - endSize - maxCommentBytes);
  for (let at = view.length - endSize; at >= earliest; at -= 1) {
    if (view.readUInt32LE(at) !== 0x06054b50 || at + endSize + view.readUInt16LE(at + 20) !== view.length) continue;
    const count = view.readUInt16LE(at + 10);
    const size = view.readUInt32LE(at + 12);
    const start = view.readUInt32LE(at + 16);
    if (count === zip64.count || size === zip64.size || start === zip64.size)
      throw badArchive("is a zip64 archive, which is not supported");
    if (view.readUInt32LE(at + 4) !== 0 || view.readUInt16LE(at + 8) !== count)
      throw badArchive("is divided into several files");
    if (start + size !== at) throw damaged();
    return { count, start, end: at };
  }
  throw damaged();
}

function readEntry(view: Buffer, central: Buffer, offset: number, limit: number) {
  const flags = central.readUInt16LE(8);
  const method = central.readUInt16LE(10);
  const packedSize = central.readUInt32LE(20);
  const size = central.readUInt32LE(24);
  if ((flags & unsupportedFlags) !== 0) throw badArchive("has an encrypted or patched entry");
  if (method !== 0 && method !== deflated) throw badArchive("has an entry that is compressed in an unsupported way");
  if (packedSize === zip64.size || size === zip64.size || offset === zip64.size)
    throw badArchive("is a zip64 archive, which is not supported");
  if (method === 0 && packedSize !== size) throw damaged();

  const nameBytes = central.subarray(centralSize, centralSize + central.readUInt16LE(28));
  const localEnd = offset + localSize + nameBytes.length;
  if (localEnd > limit || view.readUInt32LE(offset) !== 0x04034b50) throw damaged();
  const local = view.subarray(offset, localEnd);
  const agrees =
    local.readUInt16LE(6) === flags &&
    local.readUInt16LE(8) === method &&
    local.readUInt16LE(26) === nameBytes.length &&
    local.subarray(localSize).equals(nameBytes) &&
    ((flags & laterSizes) !== 0 || local.subarray(14, 26).equals(central.subarray(16, 28)));
  if (!agrees) throw badArchive("says different things about one entry in two places");

  const contentStart = localEnd + local.readUInt16LE(28);
  const end = contentStart + packedSize;
  if (end > limit) throw damaged();
  const name = decodePath(nameBytes);
  const mode = unixSystems.has(central.readUInt8(5)) ? central.readUInt32LE(38) >>> 16 : 0;
  return {
    end,
    entry: {
      name,
      kind: sourceKindOf(name, mode),
      executable: (mode & 0o111) !== 0,
      compressed: method === deflated,
      crc: central.readUInt32LE(16),
      size,
      content: view.subarray(contentStart, end),
    },
  };
}

function sourceKindOf(name: string, mode: number): ZipEntry["kind"] {
  const type = mode & 0o170000;
  if (type === 0o120000) return "link";
  if (name.endsWith("/")) return "directory";
  if (type === 0 || type === 0o100000) return "file";
  throw badArchive("has an entry that is neither a file nor a directory");
}

function damaged(): Error {
  return badArchive("is damaged, or no zip archive");
}
