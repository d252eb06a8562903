import { isUtf8 } from "node:buffer";
import { closeSync, readSync } from "node:fs";
import { findFrontmatter } from "../text/frontmatter.ts";
import { findInvisible, invisibleIn } from "../text/invisible-characters.ts";
import { openRegularFileSync } from "../../base/paths/at-real-path.ts";
import type { Finding } from "../rules/rules.ts";
import { createTextPositions } from "../text/text-positions.ts";
import type { TextPosition } from "../text/text-positions.ts";

const checkedBytes = 16 * 1024 * 1024;
const chunkSize = 256 * 1024;
const lineFeed = 0x0a;

/**
 * Finds the first invalid UTF-8 of a file, in frontmatter or body, because readers decode whole files, and the first invisible
 * character of the body. Reads at most the first 16 MiB. Returns nothing for an unreadable file, which the scan reports.
 */
export function findBodyFaults(file: string): readonly Finding[] {
  let descriptor: number;
  try {
    descriptor = openRegularFileSync(file);
  } catch {
    // The scan reports files that cannot be opened.
    return [];
  }
  try {
    return searchLines(descriptor).map((fault) => ({ ...fault, file }));
  } finally {
    closeSync(descriptor);
  }
}

type BodyFault = Omit<Finding, "file">;

/** Reads a file in blocks of whole lines, so that no character is split. */
function searchLines(descriptor: number): BodyFault[] {
  let held = Buffer.alloc(0);
  let line = 1;
  let hidden: BodyFault | undefined;
  for (let position = 0; position < checkedBytes;) {
    const chunk = Buffer.allocUnsafe(chunkSize);
    const length = readSync(descriptor, chunk, 0, chunkSize, position);
    const frontmatter = position === 0 ? findFrontmatter(chunk.subarray(0, length), true) : undefined;
    const bodyStart = frontmatter?.kind === "found" ? frontmatter.bodyStart : 0;
    position += length;
    const block = Buffer.concat([held, chunk.subarray(0, length)]);
    const end = length === 0 ? block.length : block.lastIndexOf(lineFeed) + 1;
    const lines = block.subarray(0, end);
    hidden ??= findHidden(lines, Math.min(bodyStart, end), line);
    if (!isUtf8(lines)) return [invalidUtf8(invalidPlace(lines, line)), ...(hidden ? [hidden] : [])];
    if (length === 0) break;
    line += countLines(lines);
    held = block.subarray(end);
  }
  return hidden === undefined ? [] : [hidden];
}

function invalidUtf8(place: TextPosition): BodyFault {
  return { code: "invalid-utf8", ...place, message: "invalid UTF-8", fix: "Save the file as UTF-8." };
}

/** The first invisible character after an offset; `firstLine` is the number of the first line. */
function findHidden(lines: Buffer, from: number, firstLine: number): BodyFault | undefined {
  const text = lines.toString("utf8", from);
  const found = findInvisible(text);
  if (found === undefined) return undefined;
  const { line, column } = createTextPositions(text)(found.offset);
  const [message, fix] = invisibleIn("the body", found);
  return {
    code: "invisible-characters",
    line: firstLine + countLines(lines.subarray(0, from)) + line - 1,
    column,
    message,
    fix,
  };
}

function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) lines++;
  return lines;
}

function invalidPlace(bytes: Buffer, firstLine: number): TextPosition {
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
