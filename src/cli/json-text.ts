/** JSON that is safe to show: what a terminal may take for a command, or for a change of direction, is escaped as JSON escapes. */
export function jsonText(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, null, indent);
  if (!unsafe.test(json)) return json;
  return json.replace(unsafeEach, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const unsafe = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const unsafeEach = new RegExp(unsafe, "g");
