import { promisify } from "node:util";
import { gzip, gzipSync } from "node:zlib";
import { byCodePoint } from "../base/text/code-points.ts";
import { SkillsError } from "../base/errors.ts";
import { blockSize, checksumOf, paddingAfter } from "./archive/tar-header.ts";
import type { SkillFile } from "./reader.ts";

export { remotePathFault } from "./archive/check-path.ts";

const nameBytes = 100;
const prefixBytes = 155;
/** The offset of the platform in a gzip header, and the value for "unknown". */
const platformAt = 9;
const anyPlatform = 255;
const level = 9;
/** The end of an archive: two blocks of zeros. */
const end = Buffer.alloc(2 * blockSize);
/** The largest tar that is packed in this thread, in bytes: this takes 1 to 2 ms; the thread pool would take many times that. */
const packedAtOnce = 64 * 1024;

/**
 * Packs files as a gzip of ustar, without blocking. The bytes depend only on the files and the version of zlib: SKILL.md first, the rest
 * by code point, no times, owners or extensions. Throws INVALID_PATH for a path that does not fit into a ustar header.
 */
export async function toTarGz(files: readonly SkillFile[]): Promise<Uint8Array> {
  const first = (path: string): number => (path === "SKILL.md" ? 0 : 1);
  const sorted = files.toSorted((a, b) => first(a.path) - first(b.path) || byCodePoint(a.path, b.path));
  const tar = Buffer.concat([
    ...sorted.flatMap((file) => [toHeader(file), file.bytes, Buffer.alloc(paddingAfter(file.bytes.length))]),
    end,
  ]);
  const bytes = tar.length <= packedAtOnce ? gzipSync(tar, { level }) : await promisify(gzip)(tar, { level });
  bytes[platformAt] = anyPlatform;
  return bytes;
}

function toHeader({ path, bytes, executable }: SkillFile): Uint8Array {
  const block = Buffer.alloc(blockSize);
  const { prefix, name } = splitPath(path);
  block.set(name, 0);
  block.set(prefix, 345);
  writeOctal(block, 100, 8, executable ? 0o755 : 0o644);
  writeOctal(block, 124, 12, bytes.length);
  writeOctal(block, 136, 12, 0);
  // No owner, no group, no device.
  for (const at of [108, 116, 329, 337]) writeOctal(block, at, 8, 0);
  block.write("0", 156);
  block.write("ustar\x0000", 257);
  block.write(`${checksumOf(block).toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

function writeOctal(block: Buffer, at: number, length: number, value: number): void {
  block.write(value.toString(8).padStart(length - 1, "0"), at);
}

/** Splits a path at the last slash that leaves prefix and name short enough. Throws INVALID_PATH if there is none. */
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
