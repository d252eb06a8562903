/** The number of characters (code points) in a text. */
export function countCodePoints(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    // A high surrogate, then a low one.
    if ((text.charCodeAt(index) & 0xfc00) !== 0xd800 || (text.charCodeAt(index + 1) & 0xfc00) !== 0xdc00) continue;
    count--;
    index++;
  }
  return count;
}

/** The message for overlong text: `description is 1,929 characters long; the limit is 1,024`. */
export function tooLong(what: string, length: number, limit: number): string {
  return `${what} is ${inDigits(length)} characters long; the limit is ${inDigits(limit)}`;
}

/** Formats a number with thousands separators: `1,024`. Intl would need 10 MB of memory for it. */
export function inDigits(number: number): string {
  return String(number).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** At most the first `limit` code points of a text, trimmed if it was truncated. */
export function cutCodePoints(text: string, limit: number): string {
  return text.length <= limit || countCodePoints(text) <= limit
    ? text
    : Array.from(text.slice(0, 2 * limit))
        .slice(0, limit)
        .join("")
        .trim();
}

/** Compares by code point, as sorting UTF-8 bytes would: UTF-16 order differs between surrogates and U+E000 and above. */
export function byCodePoint(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) {
      return left >= 0xd800 && right >= 0xd800 ? surrogatesLast(left) - surrogatesLast(right) : left - right;
    }
  }
  return a.length - b.length;
}

function surrogatesLast(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}

/** `1 secret`, `2 secrets`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** `a, b and 3 more`: at most `maxWords` words, then the number of the others. */
export function shortList(words: readonly string[], maxWords: number): string {
  const more = words.length > maxWords ? ` and ${words.length - maxWords} more` : "";
  return `${words.slice(0, maxWords).join(", ")}${more}`;
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
