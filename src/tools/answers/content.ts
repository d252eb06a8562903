import { isUtf8 } from "node:buffer";
import { endOfText, startOfText } from "../../skills/text/whole-characters.ts";

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
