import { isUtf8 } from "node:buffer";
import type { Skill } from "../skill.ts";

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
      /** Whether there is a byte order mark at the start of the file or after the opening fence. */
      readonly byteOrderMark: boolean;
    }
  | { readonly kind: "missing" }
  | { readonly kind: "unclosed" }
  /** The bytes contain no closing fence and are not the whole file: read more. */
  | { readonly kind: "incomplete" };

const mark = "\u00ef\u00bb\u00bf";
/** The first line with the byte order marks around it. If a fence was prepended to a text, its mark is not part of the first key. */
const opening = new RegExp(`^(${mark})?---(?!-)([^\n]*)\n((?:${mark})*)`);
const blankRest = /[ \t\r]*(?:\n|$)/y;
const maxLanguageLength = 64;
/** The number of bytes that are decoded first. Decoding more than is needed takes longer than all other steps. */
const usualLength = 1024;

/** Finds the frontmatter at the start of a file. Only a line `---`, optionally followed by whitespace, closes it. */
export function findFrontmatter(bytes: Uint8Array, whole: boolean): Frontmatter {
  const buffer = toBuffer(bytes);
  const early = buffer.length > usualLength ? findIn(buffer.toString("latin1", 0, usualLength), false) : undefined;
  return early === undefined || early.kind === "incomplete" ? findIn(buffer.toString("latin1"), whole) : early;
}

/** Finds frontmatter in a text that has one character for each byte. */
function findIn(text: string, whole: boolean): Frontmatter {
  const [opened, firstMark, language = "", marks = ""] = opening.exec(text) ?? [];
  if (opened === undefined) {
    const start = text.startsWith(mark) ? text.slice(mark.length) : text;
    const isOpened = start.startsWith("---") && start[3] !== "-";
    if (isOpened) return { kind: whole ? "unclosed" : "incomplete" };
    return { kind: !whole && [`${mark}---`, "---"].some((fence) => fence.startsWith(text)) ? "incomplete" : "missing" };
  }
  const start = opened.length;
  let end = text.startsWith("---", start) ? start : text.indexOf("\n---", start) + 1;
  for (; end > 0; end = text.indexOf("\n---", end) + 1) {
    blankRest.lastIndex = end + 3;
    const rest = blankRest.exec(text)?.[0];
    if (rest === undefined) continue;
    if (!whole && !rest.endsWith("\n")) break;
    const byteOrderMark = firstMark !== undefined || marks !== "";
    return {
      kind: "found",
      start,
      end,
      bodyStart: end + 3 + rest.length,
      language: readLanguage(language),
      byteOrderMark,
    };
  }
  return { kind: whole ? "unclosed" : "incomplete" };
}

/** The trimmed text between the opening dashes and the end of their line; only the beginning if it is long. */
function readLanguage(latin1: string): string {
  if (latin1 === "") return "";
  const text = latin1.replace(/^[ \t\r]+|[ \t\r]+$/g, "");
  const shown = Buffer.from(text.slice(0, maxLanguageLength), "latin1").toString("utf8");
  return text.length > maxLanguageLength ? `${shown}…` : shown.trim();
}

/** Whether the language after the opening dashes is YAML. */
export function isYaml(language: string): boolean {
  return language === "" || /^ya?ml$/i.test(language);
}

/** The text between two offsets, and whether it was valid UTF-8. Invalid bytes are replaced by U+FFFD. Does not retain `bytes`. */
export function decodeFrontmatter(bytes: Uint8Array, start: number, end: number): { text: string; valid: boolean } {
  const text = toBuffer(bytes).toString("utf8", start, end);
  return { text, valid: !text.includes("\ufffd") || isUtf8(bytes.subarray(start, end)) };
}

/** The longest frontmatter that is remembered, in UTF-16 units. Longer frontmatter is read again for each comparison. */
const maxSourceLength = 4096;
const sources = new WeakMap<Skill, string>();

/** Remembers the text between the fences, if a skill was read from it alone. */
export function rememberSource(skill: Skill, source: string): void {
  if (source.length <= maxSourceLength) sources.set(skill, source);
}

/** Whether a file has exactly the frontmatter from which a skill was read. False also if that frontmatter is not remembered. */
export function hasSourceOf(skill: Skill, file: Uint8Array): boolean {
  const found = findFrontmatter(file, true);
  if (found.kind !== "found" || !isYaml(found.language)) return false;
  const { text, valid } = decodeFrontmatter(file, found.start, found.end);
  return valid && text === sources.get(skill);
}

/** Returns the bytes as a Buffer. Creating a second view dominates the cost, so an existing Buffer is reused. */
function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
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

/** The maximum length of frontmatter, and therefore of the head of a file that is read. */
export const maxFrontmatterBytes = 256 * 1024;
