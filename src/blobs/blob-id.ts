const pattern = /^blob:[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const randomBytes = 16;

/** Whether a text is shaped like the id of a blob (CONTRACT C-4.1). */
export function isBlobId(text: string): boolean {
  return pattern.test(text);
}

/** A new id: 128 random bits in lower-case hexadecimal, so that disks which ignore case tell ids apart. */
export function newBlobId(random: (bytes: Uint8Array) => void): string {
  const bytes = new Uint8Array(randomBytes);
  random(bytes);
  return `blob:${Buffer.from(bytes).toString("hex")}`;
}
