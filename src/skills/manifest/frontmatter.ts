import { isUtf8 } from "node:buffer";

/** The position of frontmatter in a file. All numbers are byte offsets. */
export type Frontmatter =
  | {
      readonly kind: "found";
      /** The first byte after the line of the opening fence and a byte order mark there. */
      readonly start: number;
      /** The first byte of the closing fence. */
      readonly end: number;
      /** The first byte after the line of the closing fence. */
      readonly bodyStart: number;
      /** The text after the opening dashes, such as `js`; usually empty. */
      readonly language: string;
      /** Whether there is one at the start of the file or after the opening fence. */
      readonly byteOrderMark: boolean;
    }
  | { readonly kind: "missing" }
  | { readonly kind: "unclosed" }
  /** The bytes contain no closing fence and are not the whole file: read more. */
  | { readonly kind: "incomplete" };

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const dash = 0x2d;

/** Finds the frontmatter at the start of a file. Only a line `---`, optionally followed by whitespace, closes it. */
export function findFrontmatter(bytes: Uint8Array, whole: boolean): Frontmatter {
  const startsMarked = isByteOrderMark(bytes, 0);
  if (!whole && bytes.length < 3 && bytes[0] === 0xef) return { kind: "incomplete" };
  const open = startsMarked ? 3 : 0;
  for (let index = open; index < open + 3; index++) {
    if (index >= bytes.length) return { kind: whole ? "missing" : "incomplete" };
    if (bytes[index] !== dash) return { kind: "missing" };
  }
  if (bytes[open + 3] === dash) return { kind: "missing" };
  const notFound: Frontmatter = { kind: whole ? "unclosed" : "incomplete" };
  const firstLineEnd = bytes.indexOf(lineFeed, open + 3);
  if (firstLineEnd < 0) return notFound;
  const language = readLanguage(bytes, open + 3, firstLineEnd);
  // If a fence was prepended to a text with a byte order mark, the mark is not part of the first key.
  let start = firstLineEnd + 1;
  while (isByteOrderMark(bytes, start)) start += 3;
  const byteOrderMark = startsMarked || start > firstLineEnd + 1;
  for (let line = start; line < bytes.length;) {
    const lineEnd = bytes.indexOf(lineFeed, line);
    if (lineEnd < 0 && !whole) return notFound;
    const stop = lineEnd < 0 ? bytes.length : lineEnd;
    const isFence = bytes[line] === dash && bytes[line + 1] === dash && bytes[line + 2] === dash;
    if (isFence && isBlank(bytes, line + 3, stop)) {
      const bodyStart = Math.min(stop + 1, bytes.length);
      return { kind: "found", start, end: line, bodyStart, language, byteOrderMark };
    }
    line = stop + 1;
  }
  return notFound;
}

const longestLanguage = 64;

/** The trimmed text between the opening dashes and the end of their line; only the beginning if it is long. */
function readLanguage(bytes: Uint8Array, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(bytes, start, start + 1)) start++;
  while (end > start && isBlank(bytes, end - 1, end)) end--;
  if (start === end) return "";
  if (end - start <= longestLanguage) return decode(bytes, start, end).trim();
  return `${decode(bytes, start, start + longestLanguage)}…`;
}

/** Whether the language after the opening dashes is YAML. */
export function isYaml(language: string): boolean {
  return language === "" || /^ya?ml$/i.test(language);
}

/** The text between two offsets, and whether it was valid UTF-8. Invalid bytes are replaced by U+FFFD. Does not retain `bytes`. */
export function decodeFrontmatter(bytes: Uint8Array, start: number, end: number): { text: string; valid: boolean } {
  const text = decode(bytes, start, end);
  return { text, valid: !text.includes("\ufffd") || isUtf8(bytes.subarray(start, end)) };
}

function decode(bytes: Uint8Array, start: number, end: number): string {
  // Creating a second view of the bytes dominates the cost, so an existing Buffer is reused.
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString("utf8", start, end);
}

function isByteOrderMark(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf;
}

function isBlank(bytes: Uint8Array, from: number, to: number): boolean {
  for (let index = from; index < to; index++) {
    const byte = bytes[index];
    if (byte !== 0x20 && byte !== 0x09 && byte !== carriageReturn) return false;
  }
  return true;
}

/** The frontmatter fields of the Agent Skills specification. */
export const specificationFields: readonly string[] = [
  "name",
  "description",
  "license",
  "allowed-tools",
  "metadata",
  "compatibility",
];

/** Maximum length of frontmatter, and therefore of the head of a file that is read. */
export const maxFrontmatterBytes = 256 * 1024;
