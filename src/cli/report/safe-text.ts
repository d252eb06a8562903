import type { Paint } from "./terminal.ts";
import { replaceInvisible, toEscape } from "../../base/text/unsafe-characters.ts";

/**
 * Makes untrusted text safe for one line of a terminal: line breaks and tabs become spaces. Visible escapes replace other control
 * characters, invisible characters, characters that reorder text, and commands to CI systems.
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

/** Returns a function that formats `label  value` lines with labels of one width; empty for an absent or empty value. */
export function labelled(paint: Paint, width: number): (label: string, value: string | undefined) => string {
  return (label, value) =>
    value === undefined || value === "" ? "" : `${paint("dim", label.padEnd(width))}${safeText(value)}\n`;
}

/** Makes untrusted text of several lines safe for a terminal; line breaks and tabs stay. */
export function safeLines(text: string): string {
  return text
    .split(/\r\n|\n/)
    .map((line) => line.split("\t").map(safeText).join("\t"))
    .join("\n");
}

/**
 * Passes text on in whole lines, rewritten and then made safe, because workflow commands cannot be recognised in half a line. `end` passes
 * the rest of the last line.
 */
export function openSafeLines(
  write: (text: string) => void,
  rewrite = (text: string): string => text,
): { readonly push: (text: string) => void; readonly end: () => void } {
  let held = "";
  return {
    push(text) {
      held += text;
      const end = held.lastIndexOf("\n") + 1;
      if (end > 0) write(safeLines(rewrite(held.slice(0, end))));
      held = held.slice(end);
    },
    end() {
      if (held !== "") write(safeLines(rewrite(held)));
      held = "";
    },
  };
}

/** The `#` of `##[error]`, `##vso[…]` and `##teamcity[…]`, which GitHub, Azure and TeamCity execute anywhere in a line. */
const ciCommand = /#(?=#[a-z]*\[)/gi;
/** The first colon of `::error::`, which GitHub executes at the start of a line. */
const workflowCommand = /^(\s*):(?=:[a-z])/i;
/** Controls (C0, DEL, C1), lone surrogates, line and paragraph separators, and bidirectional controls. */
const unsafe = /[\p{Cc}\p{Cs}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const unsafeEach = new RegExp(unsafe, "gu");

/**
 * Formats JSON that is safe to print: commands to terminals and CI systems, invisible characters and characters that reorder text become
 * JSON escapes. No line of JSON starts with `::`.
 */
export function jsonText(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, null, indent);
  const safe = unusual.test(json) ? replaceInvisible(json, toJsonEscape).replace(unsafeInJson, toJsonEscape) : json;
  return safe.includes("##") ? safe.replace(ciCommand, toJsonEscape) : safe;
}

function toJsonEscape(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}

const unsafeInJson = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
/** A fast check for text that may need escaping; most text does not. */
const unusual = /[^\0-\u007e]/;

/** Leaves space for the name of the program in 100 columns. */
const maxFirstLineLength = 88;

/** Splits an error message into a first line, which ends with a clause after at most 88 characters, and the rest. */
export function errorLines(text: string): [string, ...string[]] {
  if (text.length <= maxFirstLineLength) return [text];
  const [, first = text, rest] = /^(.{20,87}(?:[.,;:)]|(?= \())) (.*)$/s.exec(text) ?? [];
  return rest === undefined ? [first] : [first, rest];
}
