/** Parses JSON; undefined if the text is not JSON: the caller decides what that means. */
export function parseIfJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns a text unchanged; undefined for anything else. */
export function asText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Replaces infinite numbers, which are not JSON, by null. Changes the value itself: a reviver of `JSON.parse` takes ten times as long. */
function makeFinite(value: unknown): unknown {
  if (value === Infinity || value === -Infinity) return null;
  if (Array.isArray(value)) for (let at = 0; at < value.length; at++) value[at] = makeFinite(value[at]);
  else if (isObject(value))
    for (const key in value) {
      const field = value[key];
      const finite = makeFinite(field);
      if (finite !== field) Object.defineProperty(value, key, { value: finite });
    }
  return value;
}

/** The maximum number of keys and values in one untrusted document: parsing and checking more would block everything else. */
export const maxJsonValues = 200_000;

/** Whether JSON has more keys and values than `maxValues`. Meaningless for bytes that are not JSON. */
export function hasTooManyValues(bytes: Uint8Array, maxValues: number = maxJsonValues): boolean {
  return bytes.length > maxValues && countJsonValues(bytes) > maxValues;
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The maximum nesting depth of JSON that runs read or write. */
export const maxJsonDepth = 200;

/** The maximum number of keys and values of JSON that runs read or write: parsing more in one go would block everything else. */
export const maxRunValues = 1_000_000;

/** Parses JSON of limited depth, so that the value may be walked recursively, and of limited size. Throws a SyntaxError. */
export function parseUntrustedJson(bytes: Buffer, deepest = maxJsonDepth): unknown {
  let depth = 0;
  let values = 1;
  let isInString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) isInString = !isInString;
    else if (isInString) at += byte === backslash ? 1 : 0;
    else if (byte === openList || byte === openObject) depth += 1;
    else if (byte === closeList || byte === closeObject) depth -= 1;
    else if (byte === comma || byte === colon) values += 1;
    if (depth > deepest) throw new SyntaxError(`The value is nested deeper than ${deepest} levels.`);
    if (values > maxRunValues) throw new SyntaxError(`The value has more than ${maxRunValues} keys and values.`);
  }
  const text = bytes.toString();
  const value: unknown = JSON.parse(text);
  return /\d[eE]\+?\d{3}|\d{200}/.test(text) ? makeFinite(value) : value;
}

/** The bytes that precede a key or a value: `,` `:` `[` `{`. */
const separators: ReadonlySet<number> = new Set([0x2c, 0x3a, 0x5b, 0x7b]);

/** The approximate number of keys and values. Meaningless for bytes that are not JSON. */
export function countJsonValues(bytes: Uint8Array): number {
  let count = 1;
  let isInString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === quote) isInString = !isInString;
    else if (!isInString) count += separators.has(byte) ? 1 : 0;
    // An escaped quote does not end the string.
    else if (byte === backslash) at++;
  }
  return count;
}
