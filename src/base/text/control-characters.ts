import { withoutTags } from "./invisible-characters.ts";

/**
 * Characters that a terminal or an editor may interpret: control characters other than line breaks and tabs,
 * bidirectional formatting characters, and lone surrogates.
 */
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\p{Cs}]/u;
const everyControl = new RegExp(controls, "gu");

export function hasControls(text: string): boolean {
  return controls.test(text);
}

/** Removes control characters and Unicode tags. */
export function withoutControls(text: string): string {
  return withoutTags(hasControls(text) ? text.replace(everyControl, "") : text);
}

/**
 * Applies `clean` to all strings and keys of a value; returns the same object if nothing changed.
 * If keys become equal, the first one is kept.
 */
export function cleanValue(value: unknown, clean = withoutControls): { value: unknown; changed: boolean } {
  if (typeof value === "string") {
    const text = clean(value);
    return { value: text, changed: text !== value };
  }
  if (typeof value !== "object" || value === null) return { value, changed: false };
  if (Array.isArray(value)) {
    const items = value.map((item) => cleanValue(item, clean));
    return items.some(({ changed }) => changed)
      ? { value: items.map((item) => item.value), changed: true }
      : { value, changed: false };
  }
  const cleaned = new Map<string, unknown>();
  let changed = false;
  for (const [key, inner] of Object.entries(value)) {
    const name = clean(key);
    const item = cleanValue(inner, clean);
    changed ||= item.changed || name !== key;
    if (!cleaned.has(name)) cleaned.set(name, item.value);
  }
  return { value: changed ? Object.fromEntries(cleaned) : value, changed };
}

/** All strings and keys of a value, joined by line breaks, so that they can be searched together. */
export function joinedStrings(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  if (Array.isArray(value)) return value.map(joinedStrings).join("\n");
  return Object.entries(value)
    .map(([key, inner]) => `${key}\n${joinedStrings(inner)}`)
    .join("\n");
}

/** Message and fix for a field that contains control characters. */
export function controlsIn(field: string): [message: string, fix: string] {
  return [
    `${field} contains control or bidirectional formatting characters; they are removed`,
    "Remove them; only line breaks and tabs are allowed.",
  ];
}

/** Controls, lone surrogates, and characters that are invisible or reorder text; joiners stay, which scripts and emoji need. */
const unwanted =
  /[\p{Cc}\p{Cs}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]+/gu;

/** A text of others on one line, at most so many characters (code points) long. */
export function cleanText(text: string, length: number): string {
  // A character has at most two units; what is cut here is never read.
  const start = text.slice(0, (length + 1) * 4);
  const clean = start.replace(unwanted, " ").replace(/\s+/gu, " ").trim();
  const characters = Array.from(clean);
  return characters.length <= length && start.length === text.length
    ? clean
    : `${characters.slice(0, length - 1).join("").trimEnd()}…`; // prettier-ignore
}
