import { replaceInvisible } from "../../skills/text/invisible-characters.ts";

/**
 * Text from a skill, made fit for a terminal and for one line: blanks for line ends and tabs; every other control
 * character, and every character that reorders text or cannot be seen, as a visible escape. Nothing a skill says reaches a
 * terminal, or the CI system that reads our output, as a command.
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

/** The same for text of many lines, which keep their ends and tabs. */
export function safeLines(text: string): string {
  return text
    .split(/\r\n|\n/)
    .map((line) => line.split("\t").map(safeText).join("\t"))
    .join("\n");
}

/** The `#` of `##[error]`, `##vso[…]` and `##teamcity[…]`, which GitHub, Azure and TeamCity obey anywhere in a line. */
const ciCommand = /#(?=#[a-z]*\[)/gi;
/** The first colon of `::error::`, which GitHub obeys at the beginning of a line. */
const workflowCommand = /^(\s*):(?=:[a-z])/i;
/** Controls (C0, DEL, C1), lone surrogates, line and paragraph separators, and the marks that turn the direction of text. */
const unsafe = /[\p{Cc}\p{Cs}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const unsafeEach = new RegExp(unsafe, "gu");
