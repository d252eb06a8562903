import { badArchive, decodePath } from "./archive-content.ts";

/** One header of a tar archive, as POSIX (ustar), GNU tar or the old tar writes it. */
export interface TarHeader {
  readonly name: string;
  readonly size: number;
  readonly executable: boolean;
  /** The type of the entry, one character; a file is `0`. */
  readonly type: string;
  /** The target of a link; empty for other types. */
  readonly target: string;
}

export const blockSize = 512;

/** Returns the number of bytes between content of this size and the next header. */
export function paddingAfter(size: number): number {
  return (blockSize - (size % blockSize)) % blockSize;
}

/** Parses a header. Throws SOURCE_INVALID if it is damaged. */
export function parseTarHeader(block: Uint8Array): TarHeader {
  if (parseOctal(block.subarray(148, 156), "checksum") !== checksumOf(block))
    throw badArchive("is damaged, or no tar archive: a checksum is wrong");
  const magic = Buffer.from(block.subarray(257, 263)).toString("latin1");
  // At the offset of the prefix of POSIX, GNU tar has other fields, and the old tar nothing.
  const prefix = magic === "ustar\0" ? parseText(block.subarray(345, 500)) : "";
  const name = parseText(block.subarray(0, 100));
  const type = block[156] === 0 ? "0" : String.fromCharCode(block[156] ?? 0);
  return {
    name: prefix === "" ? name : `${prefix}/${name}`,
    size: parseOctal(block.subarray(124, 136), "size"),
    executable: (parseOctal(block.subarray(100, 108), "mode") & 0o111) !== 0,
    type,
    target: type === "1" || type === "2" ? parseText(block.subarray(157, 257)) : "",
  };
}

/** Decodes a field as UTF-8 up to its first NUL. */
export function parseText(field: Uint8Array): string {
  const end = field.indexOf(0);
  return decodePath(end === -1 ? field : field.subarray(0, end));
}

/** Adds up the bytes of a header, with blanks for the checksum itself. */
export function checksumOf(block: Uint8Array): number {
  let sum = 8 * 0x20;
  for (let index = 0; index < blockSize; index++) if (index < 148 || index >= 156) sum += block[index] ?? 0;
  return sum;
}

function parseOctal(field: Uint8Array, what: string): number {
  const digits = /^ *([0-7]+)[ \0]*$/.exec(Buffer.from(field).toString("latin1"))?.[1];
  if (digits === undefined) throw badArchive(`is damaged, or no tar archive: a ${what} is not octal`);
  return Number.parseInt(digits, 8);
}

/** Parses the understood records of an extended header. Throws SOURCE_INVALID, also for sparse files, which would be read wrongly. */
export function parsePax(bytes: Uint8Array): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length;) {
    const blank = bytes.indexOf(0x20, at);
    const digits = blank === -1 || blank - at > 8 ? "" : Buffer.from(bytes.subarray(at, blank)).toString("latin1");
    const length = /^[1-9][0-9]*$/.test(digits) ? Number(digits) : 0;
    const equals = bytes.indexOf(0x3d, blank + 1);
    const end = at + length;
    if (length === 0 || end > bytes.length || equals === -1 || equals >= end || bytes[end - 1] !== 0x0a)
      throw badArchive("has a damaged extended header");
    const value = bytes.subarray(equals + 1, end - 1);
    const key = parseText(bytes.subarray(blank + 1, equals));
    // Values of other keys can be binary.
    if (understood.has(key)) {
      if (value.includes(0)) throw badArchive("has a NUL in an extended header");
      records.set(key, parseText(value));
    } else if (key.startsWith("GNU.sparse")) throw badArchive("has a sparse file, which is not supported");
    at = end;
  }
  return records;
}

const understood: ReadonlySet<string> = new Set(["path", "size", "linkpath", "comment"]);
