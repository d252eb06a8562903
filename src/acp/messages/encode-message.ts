const encoded = new WeakMap<object, Buffer>();
const comma = Buffer.from(",");

/**
 * A message as one line of JSON. The items of its lists are encoded once and cached: sending a list of a thousand skills of which one
 * has changed costs little more than that one. Items must not be mutated afterwards.
 */
export function encodeMessage(message: object): Buffer {
  const pieces: Buffer[] = [];
  addValue(message, pieces);
  pieces.push(Buffer.from("\n"));
  return Buffer.concat(pieces);
}

/** Items of a list as JSON, separated by commas. */
export function encodeItems(items: readonly unknown[]): Uint8Array {
  return Buffer.concat(items.flatMap((item, index) => (index === 0 ? [encodeItem(item)] : [comma, encodeItem(item)])));
}

function addValue(value: unknown, pieces: Buffer[]): void {
  if (Array.isArray(value)) {
    pieces.push(Buffer.from("["));
    for (const [index, item] of (value as unknown[]).entries()) {
      if (index > 0) pieces.push(comma);
      pieces.push(encodeItem(item));
    }
    pieces.push(Buffer.from("]"));
  } else if (typeof value === "object" && value !== null) {
    let opening = "{";
    for (const [key, field] of Object.entries(value)) {
      if (field === undefined) continue;
      pieces.push(Buffer.from(`${opening}${JSON.stringify(key)}:`));
      opening = ",";
      addValue(field, pieces);
    }
    pieces.push(Buffer.from(opening === "{" ? "{}" : "}"));
  } else {
    pieces.push(Buffer.from(JSON.stringify(value)));
  }
}

function encodeItem(item: unknown): Buffer {
  if (typeof item !== "object" || item === null) return Buffer.from(JSON.stringify(item ?? null));
  const known = encoded.get(item);
  if (known !== undefined) return known;
  const bytes = Buffer.from(JSON.stringify(item));
  encoded.set(item, bytes);
  return bytes;
}
