import { replaceInvisible } from "../../skills/text/invisible-characters.ts";

/**
 * JSON that is safe to print: commands to terminals and CI systems, invisible characters and those that reorder text are written as
 * JSON escapes.
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

/** As in `safeText`; no line of JSON starts with `::`. */
const ciCommand = /#(?=#[a-z]*\[)/gi;
const unsafe = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
/** A fast check for text that may need escaping; most text does not. */
const unusual = /[^\0-\u007e]/;
