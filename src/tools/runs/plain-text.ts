import { stripVTControlCharacters } from "node:util";
import { endOfText, startOfText } from "../whole-characters.ts";

/** A program's text without what steers a terminal; line breaks and tabs stay. */
export function toPlainText(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/\r\n?/g, "\n")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "");
}

/** The beginning and the end of a text that is longer than `limit` bytes, with how much is missing between them. */
export function toPreview(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return text;
  const gap = `\n… ${bytes.length} bytes in all …\n`;
  const room = Math.max(0, limit - Buffer.byteLength(gap));
  const head = bytes.subarray(0, Math.ceil(room / 2));
  const tail = bytes.subarray(bytes.length - Math.floor(room / 2));
  return head.toString("utf8", 0, endOfText(head)) + gap + tail.toString("utf8", startOfText(tail));
}
