import { replaceInvisible } from "../../skills/text/invisible-characters.ts";

/**
 * Makes untrusted text safe for one line of a terminal: line breaks and tabs become spaces; other control characters, invisible
 * characters and those that reorder text become visible escapes, and so do commands to CI systems.
 */
export function safeText(text: string): string {
  const visible = replaceInvisible(text, toEscape);
  const plain = unsafe.test(visible)
    ? visible.replace(/\r\n|[\n\r\t\u2028\u2029]/g, " ").replace(unsafeEach, toEscape)
    : visible;
  return plain
    .replace(ciCommand, toEscape)
    .replace(workflowCommand, (_whole, blanks: string) => blanks + toEscape(":"));
}

function toEscape(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** The same for text of several lines; line breaks and tabs stay. */
export function safeLines(text: string): string {
  return text
    .split(/\r\n|\n/)
    .map((line) => line.split("\t").map(safeText).join("\t"))
    .join("\n");
}

/** The `#` of `##[error]`, `##vso[…]` and `##teamcity[…]`, which GitHub, Azure and TeamCity execute anywhere in a line. */
const ciCommand = /#(?=#[a-z]*\[)/gi;
/** The first colon of `::error::`, which GitHub executes at the start of a line. */
const workflowCommand = /^(\s*):(?=:[a-z])/i;
/** Controls (C0, DEL, C1), lone surrogates, line and paragraph separators, and bidirectional controls. */
const unsafe = /[\p{Cc}\p{Cs}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const unsafeEach = new RegExp(unsafe, "gu");
