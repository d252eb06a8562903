import { isUtf8 } from "node:buffer";
import { closeSync, readSync } from "node:fs";
import { openRegularFileSync } from "../skills/open-regular-file.ts";
import type { Finding } from "../skills/rules.ts";

/** However long a file is, no more of it is read. */
const checkedBytes = 16 * 1024 * 1024;
const chunkSize = 256 * 1024;
const lineFeed = 0x0a;

/**
 * The first place of a file, frontmatter or body, that is not UTF-8: the specification's readers decode whole files. Looks
 * at the first 16 MiB. Undefined where all is well, and where the file cannot be read, which others report.
 */
export function findBodyFault(file: string): Finding | undefined {
  const place = findInvalidUtf8(file);
  if (place === undefined) return undefined;
  return {
    code: "invalid-utf8",
    file,
    ...place,
    message: "the file is not valid UTF-8",
    fix: "Save the file as UTF-8.",
  };
}

function findInvalidUtf8(file: string): { line: number; column: number } | undefined {
  let descriptor: number;
  try {
    descriptor = openRegularFileSync(file);
  } catch {
    // Whoever looked for skills has reported that this one cannot be opened, or is no file.
    return undefined;
  }
  try {
    return searchLines(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Goes through a file in blocks of whole lines, so that no character is cut in two. */
function searchLines(descriptor: number): { line: number; column: number } | undefined {
  let held = Buffer.alloc(0);
  let line = 1;
  for (let position = 0; position < checkedBytes;) {
    const chunk = Buffer.allocUnsafe(chunkSize);
    const length = readSync(descriptor, chunk, 0, chunkSize, position);
    position += length;
    const block = Buffer.concat([held, chunk.subarray(0, length)]);
    const end = length === 0 ? block.length : block.lastIndexOf(lineFeed) + 1;
    const lines = block.subarray(0, end);
    if (!isUtf8(lines)) return invalidPlace(lines, line);
    if (length === 0) return undefined;
    line += countLines(lines);
    held = block.subarray(end);
  }
  return undefined;
}

function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) lines++;
  return lines;
}

function invalidPlace(bytes: Buffer, firstLine: number): { line: number; column: number } {
  let start = 0;
  for (let line = firstLine; ; line++) {
    const found = bytes.indexOf(lineFeed, start);
    const end = found < 0 ? bytes.length : found;
    const text = bytes.subarray(start, end);
    if (!isUtf8(text) || found < 0) {
      return { line, column: Array.from(text.toString("utf8").split("\ufffd", 1)[0] ?? "").length + 1 };
    }
    start = end + 1;
  }
}
