import { isUtf8 } from "node:buffer";
import { endOfText, startOfText } from "./whole-characters.ts";

/** Bytes in a reply: UTF-8 text if valid, otherwise base64. */
export interface Content {
  readonly content: string;
  readonly encoding: "utf-8" | "base64";
}

/** Which ends of the bytes were cut. */
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
