const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** A text of Markdown without its character references: numbers, and the few names that texts about code need. Others stay as they are written. */
export function plainText(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,4}));/gi, (whole, decimal, hexadecimal, name) => {
    if (typeof name === "string") return named[name] ?? whole;
    const code = typeof decimal === "string" ? Number(decimal) : Number.parseInt(String(hexadecimal), 16);
    const isCharacter = code > 0 && code <= 0x10_ffff && (code < 0xd800 || code > 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : "\ufffd";
  });
}
