const mostBytes = 512;
const bytesOfLine = 16;

/** The first bytes of a file as a hex dump: `00000000  89 50 4e 47 …  .PNG`. */
export function hexLines(base64: string): { readonly lines: readonly string[]; readonly shown: number } {
  const bytes = Array.from(atob(base64.slice(0, Math.ceil(mostBytes / 3) * 4)), (character) =>
    character.charCodeAt(0),
  ).slice(0, mostBytes);
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += bytesOfLine) {
    const line = bytes.slice(at, at + bytesOfLine);
    const hex = line.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = line.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("");
    lines.push(`${at.toString(16).padStart(8, "0")}  ${hex.padEnd(bytesOfLine * 3 - 1)}  ${text}`);
  }
  return { lines, shown: bytes.length };
}
