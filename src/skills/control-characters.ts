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
