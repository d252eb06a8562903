/** Compares by code point, as sorting UTF-8 bytes would: UTF-16 order differs where surrogates meet U+E000 and above. */
export function byCodePoint(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) {
      if (left >= 0xd800 && right >= 0xd800) return surrogatesLast(left) - surrogatesLast(right);
      return left - right;
    }
  }
  return a.length - b.length;
}

function surrogatesLast(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}
