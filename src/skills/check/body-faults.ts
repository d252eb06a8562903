import { isUtf8 } from "node:buffer";
import { closeSync, fstatSync, readSync } from "node:fs";
import { openRegularFileSync } from "../../base/paths/at-real-path.ts";
import type { Finding } from "../rules.ts";
import { findFrontmatter } from "../manifest/frontmatter.ts";
import { findInvisible, invisibleIn } from "../../base/text/unsafe-characters.ts";
import { createTextPositions } from "../manifest/text-positions.ts";
import { endOfText } from "../../base/text/content.ts";

const checkedBytes = 16 * 1024 * 1024;

/**
 * Finds the first invalid UTF-8 of a file, in frontmatter or body, because readers decode whole files, and the first invisible
 * character of the body. Reads at most the first 16 MiB. Returns nothing for an unreadable file, which the scan reports.
 */
export function findBodyFaults(file: string): readonly Finding[] {
  const findings: Finding[] = [];
  const bytes = readStart(file);
  if (!isUtf8(bytes)) {
    const place = invalidPlace(bytes);
    findings.push({ code: "invalid-utf8", file, ...place, message: "invalid UTF-8", fix: "Save the file as UTF-8." });
  }
  const frontmatter = findFrontmatter(bytes, true);
  const head = frontmatter.kind === "found" ? bytes.toString("utf8", 0, frontmatter.bodyStart) : "";
  const text = bytes.toString("utf8");
  const found = findInvisible(text.slice(head.length));
  if (found !== undefined) {
    const [message, fix] = invisibleIn("the body", found);
    const place = createTextPositions(text)(head.length + found.offset);
    findings.push({ code: "invisible-characters", file, ...place, message, fix });
  }
  return findings;
}

function readStart(file: string): Buffer {
  let descriptor: number;
  try {
    descriptor = openRegularFileSync(file);
  } catch {
    // The scan reports files that cannot be opened.
    return Buffer.alloc(0);
  }
  try {
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.allocUnsafe(Math.min(size, checkedBytes));
    const read = bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, 0));
    return size > checkedBytes ? read.subarray(0, endOfText(read)) : read;
  } finally {
    closeSync(descriptor);
  }
}

/** The first line with invalid bytes, and the column of the first replacement character in it. */
function invalidPlace(bytes: Buffer): { line: number; column: number } {
  for (let line = 1, start = 0; ; line++) {
    const feed = bytes.indexOf("\n", start);
    const text = bytes.subarray(start, feed < 0 ? bytes.length : feed);
    if (!isUtf8(text) || feed < 0) {
      return { line, column: Array.from(text.toString("utf8").split("\ufffd", 1)[0] ?? "").length + 1 };
    }
    start = feed + 1;
  }
}
