import { isUtf8 } from "node:buffer";

/** Bytes in a reply: UTF-8 text if valid, otherwise base64. */
export interface Content {
  readonly content: string;
  readonly encoding: "utf-8" | "base64";
}

/** The ends of the bytes that were cut. */
export interface Cut {
  readonly start?: boolean;
  readonly end?: boolean;
}

/**
 * Encodes bytes unchanged, except that a character split by a cut is dropped from text. Bytes with a NUL, or that are not UTF-8, are
 * encoded as base64.
 */
export function toContent(bytes: Uint8Array, cut: Cut = {}): Content {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.subarray(cut.start ? startOfText(buffer) : 0, cut.end ? endOfText(buffer) : buffer.length);
  return isUtf8(text) && !text.includes(0)
    ? { content: text.toString("utf8"), encoding: "utf-8" }
    : { content: buffer.toString("base64"), encoding: "base64" };
}

const maxCharacterBytes = 4;

/** The first byte that is not a UTF-8 continuation byte, for text cut anywhere. At most three are skipped, because more are invalid. */
export function startOfText(bytes: Uint8Array): number {
  let start = 0;
  while (start < maxCharacterBytes - 1 && start < bytes.length && isContinuation(bytes[start])) start++;
  return start;
}

/** The end of the last complete character. */
export function endOfText(bytes: Uint8Array): number {
  for (let back = 1; back < maxCharacterBytes && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (!isContinuation(byte)) return lengthOf(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** The number of bytes of a character that starts with this byte; 1 if the byte cannot start one. */
function lengthOf(byte: number): number {
  if (byte > 0xf4) return 1;
  if (byte >= 0xf0) return 4;
  if (byte >= 0xe0) return 3;
  return byte >= 0xc2 ? 2 : 1;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Whether bytes begin with `#!`, as those of a script. The executable bit is no criterion, because not every file system has one. */
export function beginsAsScript(bytes: Uint8Array): boolean {
  return bytes[0] === 0x23 && bytes[1] === 0x21;
}

/** The form of every digest in files, requests and replies. */
export const digestForm = /^sha256:[0-9a-f]{64}$/;
