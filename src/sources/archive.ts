import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createGzip, gzipSync } from "node:zlib";
import { byCodePoint } from "../base/text/code-points.ts";
import { SkillsError } from "../base/errors.ts";
import { blockSize, checksumOf, paddingAfter } from "./archive/tar-header.ts";
import type { SkillFile } from "./reader.ts";

const nameBytes = 100;
const prefixBytes = 155;
/** Of the header of gzip: where the platform stands, and what means "unknown". */
const platformAt = 9;
const anyPlatform = 255;
const level = 9;
/** Two blocks of zeros end an archive. */
const endBytes = 2 * blockSize;
/** At a time. */
const writtenBytes = 256 * 1024;
/** Up to this size, packing takes a millisecond or two, and passing it through streams and threads many times that. */
const packedAtOnce = 64 * 1024;

/**
 * A gzip of ustar whose bytes depend on nothing but the files (and the version of zlib): SKILL.md first, the rest by code point, no times,
 * no owners, no extensions. Does not block. Throws INVALID_PATH for a path that does not fit into a header of ustar.
 */
export async function toTarGz(files: readonly SkillFile[]): Promise<Uint8Array> {
  const first = (path: string): number => (path === "SKILL.md" ? 0 : 1);
  const sorted = files.toSorted((a, b) => first(a.path) - first(b.path) || byCodePoint(a.path, b.path));
  const headers = sorted.map((file) => toHeader(file));
  const size = files.reduce((sum, { bytes }) => sum + blockSize + bytes.length + paddingAfter(bytes.length), endBytes);
  const bytes =
    size <= packedAtOnce
      ? gzipSync(Buffer.concat([...parts(sorted, headers)], size), { level })
      : await packInPieces(toTar(sorted, headers, size));
  bytes[platformAt] = anyPlatform;
  return bytes;
}

async function packInPieces(tar: AsyncGenerator<Uint8Array, void>): Promise<Buffer> {
  const gzip = createGzip({ level, chunkSize: writtenBytes });
  const source = Readable.from(tar, { objectMode: false });
  source.on("error", (error) => gzip.destroy(error));
  const packed: Buffer[] = [];
  for await (const piece of source.pipe(gzip)) packed.push(piece as Buffer);
  return Buffer.concat(packed);
}

/** In pieces of one size, because each costs a turn of the event loop and of a thread. */
async function* toTar(
  files: readonly SkillFile[],
  headers: readonly Uint8Array[],
  size: number,
): AsyncGenerator<Uint8Array, void> {
  let piece = Buffer.alloc(Math.min(size, writtenBytes));
  let at = 0;
  let left = size;
  for (const part of parts(files, headers)) {
    for (let taken = 0; taken < part.length;) {
      const some = part.subarray(taken, taken + piece.length - at);
      piece.set(some, at);
      taken += some.length;
      at += some.length;
      if (at < piece.length) continue;
      yield piece;
      left -= piece.length;
      await nextTurn();
      piece = Buffer.alloc(Math.min(left, writtenBytes));
      at = 0;
    }
  }
}

function* parts(files: readonly SkillFile[], headers: readonly Uint8Array[]): Generator<Uint8Array, void> {
  for (const [index, { bytes }] of files.entries()) {
    yield headers[index] ?? new Uint8Array();
    yield bytes;
    yield new Uint8Array(paddingAfter(bytes.length));
  }
  yield new Uint8Array(endBytes);
}

function toHeader({ path, bytes, executable }: SkillFile): Uint8Array {
  const block = Buffer.alloc(blockSize);
  const { prefix, name } = splitPath(path);
  block.set(name, 0);
  block.set(prefix, 345);
  writeOctal(block, 100, 8, executable ? 0o755 : 0o644);
  writeOctal(block, 108, 8, 0);
  writeOctal(block, 116, 8, 0);
  writeOctal(block, 124, 12, bytes.length);
  writeOctal(block, 136, 12, 0);
  block.write("0", 156);
  block.write("ustar\x0000", 257);
  writeOctal(block, 329, 8, 0);
  writeOctal(block, 337, 8, 0);
  block.write(`${checksumOf(block).toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

function writeOctal(block: Buffer, at: number, length: number, value: number): void {
  block.write(value.toString(8).padStart(length - 1, "0"), at);
}

/** Divides at the last slash that leaves both parts short enough. */
function splitPath(path: string): { readonly prefix: Buffer; readonly name: Buffer } {
  const whole = Buffer.from(path);
  if (whole.length <= nameBytes) return { prefix: Buffer.alloc(0), name: whole };
  const slash = whole.lastIndexOf(0x2f, prefixBytes);
  const prefix = whole.subarray(0, Math.max(slash, 0));
  const name = whole.subarray(slash + 1);
  if (prefix.length === 0 || name.length > nameBytes || name.length === 0) {
    const message = `${JSON.stringify(path)} does not fit into a tar archive; use a path of at most ${nameBytes} bytes.`;
    throw new SkillsError("INVALID_PATH", message);
  }
  return { prefix, name };
}
