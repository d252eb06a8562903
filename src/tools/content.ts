import { isUtf8 } from "node:buffer";

/** Bytes as a reply carries them: as text where they are text, else as base64. */
export interface Content {
  readonly content: string;
  readonly encoding: "utf-8" | "base64";
}

/** Which ends of the bytes were cut off from something longer. */
export interface Cut {
  readonly start?: boolean;
  readonly end?: boolean;
}

/**
 * Bytes to content, unchanged. Where a cut went through a character, that character is left out; a NUL, or anything that is not
 * UTF-8, makes them base64, and then nothing is left out.
 */
export function toContent(bytes: Uint8Array, cut: Cut = {}): Content {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.subarray(cut.start ? startOfText(buffer) : 0, cut.end ? endOfText(buffer) : buffer.length);
  return isUtf8(text) && !text.includes(0)
    ? { content: text.toString("utf8"), encoding: "utf-8" }
    : { content: buffer.toString("base64"), encoding: "base64" };
}

const longestCharacter = 4;

/** The first byte that does not continue a character; after three of them, it is not text anyway. */
function startOfText(bytes: Uint8Array): number {
  let start = 0;
  while (start < longestCharacter - 1 && start < bytes.length && isContinuation(bytes[start])) start++;
  return start;
}

/** The end of the last whole character. */
function endOfText(bytes: Uint8Array): number {
  for (let back = 1; back < longestCharacter && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (!isContinuation(byte)) return lengthOf(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** How many bytes a character has that starts with this one; 1 where none does. */
function lengthOf(byte: number): number {
  if (byte > 0xf4) return 1;
  if (byte >= 0xf0) return 4;
  if (byte >= 0xe0) return 3;
  return byte >= 0xc2 ? 2 : 1;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
