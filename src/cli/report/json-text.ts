import { replaceInvisible } from "../../skills/text/invisible-characters.ts";

/**
 * JSON that is safe to show: what a terminal or a CI system may take for a command, what changes the direction of text, and what cannot
 * be seen, is escaped as JSON escapes.
 */
export function jsonText(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, null, indent);
  const safe = unusual.test(json) ? replaceInvisible(json, toEscape).replace(unsafe, toEscape) : json;
  return safe.includes("##") ? safe.replace(ciCommand, toEscape) : safe;
}

function toEscape(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}

/** As `safeText` has it; no line of JSON begins with `::`. */
const ciCommand = /#(?=#[a-z]*\[)/gi;
const unsafe = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
/** Most text has none, and then this one look is all. */
const unusual = /[^\0-\u007e]/;
