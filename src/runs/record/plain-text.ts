import { runInSlices } from "../../base/slices.ts";
import type { Steps } from "../../base/slices.ts";
import { endOfText, startOfText } from "../../skills/text/whole-characters.ts";

/**
 * Terminal control sequences (ECMA-48). No two parts can match the same character, so that matching takes linear time.
 */
const sequences =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0090\u0098\u009b-\u009f]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-~]/g;

/** A program's text without control sequences; line breaks and tabs stay. */
export function toPlainText(text: string): string {
  return text
    .replace(sequences, "")
    .replace(/\r\n?/g, "\n")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "");
}

/** The same in slices, of bytes of any length. Of a sequence longer than any terminal needs only the beginning is removed. */
export async function toLongPlainText(bytes: Buffer): Promise<string> {
  return await runInSlices(plainInSteps(bytes.toString("utf8")), { now: () => performance.now(), slice: sliceMs });
}

const sliceMs = 3;
const pieceLength = 32 * 1024;
const longestSequence = 256;

function* plainInSteps(text: string): Steps<string> {
  const pieces: string[] = [];
  for (let at = 0, end = 0; at < text.length; at = end) {
    end = at + pieceLength >= text.length ? text.length : beforeSequence(text, at + pieceLength);
    pieces.push(toPlainText(text.slice(at, end)));
    yield;
  }
  return pieces.join("");
}

/** Where to cut without splitting a control sequence or a line break. */
function beforeSequence(text: string, end: number): number {
  const last = text
    .slice(end - longestSequence, end)
    .search(/[\u001b\u0090\u0098\u009b\u009d-\u009f][^\u001b\u0090\u0098\u009b\u009d-\u009f]*$|\r$/);
  return last < 0 ? end : end - longestSequence + last;
}

/** The beginning and the end of a text that is longer than `limit` bytes, with its size between them. */
export function toPreview(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return text;
  const gap = `\n… ${bytes.length} bytes in total …\n`;
  const room = Math.max(0, limit - Buffer.byteLength(gap));
  const head = bytes.subarray(0, Math.ceil(room / 2));
  const tail = bytes.subarray(bytes.length - Math.floor(room / 2));
  return head.toString("utf8", 0, endOfText(head)) + gap + tail.toString("utf8", startOfText(tail));
}
