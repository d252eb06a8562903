import { stripVTControlCharacters } from "node:util";

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
  const head = trimEnd(bytes.subarray(0, Math.ceil(room / 2)));
  const tail = trimStart(bytes.subarray(bytes.length - Math.floor(room / 2)));
  return `${head.toString()}${gap}${tail.toString()}`;
}

/** Without the character that a cut went through. */
function trimEnd(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && isContinuation(bytes[end - 1])) end -= 1;
  const lead = bytes[end - 1];
  if (lead === undefined || lead < 0xc0) return bytes;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  return end - 1 + length <= bytes.length ? bytes : bytes.subarray(0, end - 1);
}

function trimStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < bytes.length && isContinuation(bytes[start])) start += 1;
  return bytes.subarray(start);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
