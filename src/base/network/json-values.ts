/** Keys and values of one document from elsewhere: parsing and checking more of them would hold up everything else. */
export const maxJsonValues = 200_000;

/** Whether JSON has more keys and values than that; of what is not JSON, the answer means nothing. */
export function hasTooManyValues(bytes: Uint8Array, most: number = maxJsonValues): boolean {
  return bytes.length > most && countJsonValues(bytes) > most;
}

const [quote, backslash] = [0x22, 0x5c];
/** What stands before a key or a value: `,` `:` `[` `{`. */
const separators: ReadonlySet<number> = new Set([0x2c, 0x3a, 0x5b, 0x7b]);

/** About the number of keys and values; of what is not JSON, some number. */
export function countJsonValues(bytes: Uint8Array): number {
  let count = 1;
  let isInString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === quote) isInString = !isInString;
    else if (!isInString) count += separators.has(byte) ? 1 : 0;
    // What is escaped does not end the string.
    else if (byte === backslash) at++;
  }
  return count;
}
