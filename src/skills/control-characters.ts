/**
 * What no text of a skill needs and a terminal or an editor may obey: control characters other than line breaks and tabs,
 * the marks that turn the direction of text, and halves of characters.
 */
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\p{Cs}]/u;
const everyControl = new RegExp(controls, "gu");

export function hasControls(text: string): boolean {
  return controls.test(text);
}

export function withoutControls(text: string): string {
  return hasControls(text) ? text.replace(everyControl, "") : text;
}

/**
 * A value with all its strings and keys as {@link withoutControls} leaves them; the very same value where there was
 * nothing to take out. Of keys that become equal the first one counts.
 */
export function cleanValue(value: unknown): { value: unknown; changed: boolean } {
  if (typeof value === "string") {
    const text = withoutControls(value);
    return { value: text, changed: text !== value };
  }
  if (typeof value !== "object" || value === null) return { value, changed: false };
  if (Array.isArray(value)) {
    const items = value.map(cleanValue);
    return items.some(({ changed }) => changed)
      ? { value: items.map((item) => item.value), changed: true }
      : { value, changed: false };
  }
  const cleaned = new Map<string, unknown>();
  let changed = false;
  for (const [key, inner] of Object.entries(value)) {
    const name = withoutControls(key);
    const clean = cleanValue(inner);
    changed ||= clean.changed || name !== key;
    if (!cleaned.has(name)) cleaned.set(name, clean.value);
  }
  return { value: changed ? Object.fromEntries(cleaned) : value, changed };
}

/** What to say of a field that held some. */
export function controlsIn(field: string): [message: string, fix: string] {
  return [
    `${field} has control characters or marks that turn the direction of text; they are left out`,
    "Remove them; line breaks and tabs are allowed.",
  ];
}
