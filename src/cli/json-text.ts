import { replaceInvisible } from "../skills/invisible-characters.ts";

/**
 * JSON that is safe to show: what a terminal or a CI system may take for a command, what changes the direction of text, and what cannot
 * be seen, is escaped as JSON escapes.
 */
export function jsonText(value: unknown, indent?: number): string {
  const json = replaceInvisible(JSON.stringify(value, null, indent), toEscape);
  const safe = unsafe.test(json) ? json.replace(unsafeEach, toEscape) : json;
  return safe.replace(ciCommand, toEscape);
}

function toEscape(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}

/** As `safeText` has it; no line of JSON begins with `::`. */
const ciCommand = /#(?=#[a-z]*\[)/gi;
const unsafe = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const unsafeEach = new RegExp(unsafe, "g");
