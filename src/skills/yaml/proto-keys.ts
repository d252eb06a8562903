const proto = "__proto__";
/** No text that was read holds half a character, so that nobody else's key is this one. */
const standIn = "\ud800__proto__";

/**
 * A value in which another key stands wherever an object has one named `__proto__`, which is data like any other: the schema library
 * leaves it out of what it parses. The very same value where there is none.
 */
export function hideProtoKeys(value: unknown): unknown {
  return renameKeys(value, proto, standIn);
}

/** Undoes {@link hideProtoKeys}. */
export function showProtoKeys<Value>(value: Value): Value {
  return renameKeys(value, standIn, proto) as Value;
}

/** The same for one segment of a path. */
export function showProtoKey<Segment>(segment: Segment): Segment | string {
  return segment === standIn ? proto : segment;
}

function renameKeys(value: unknown, from: string, to: string): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => renameKeys(item, from, to));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  // Dates of TOML are no tables.
  if (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null) return value;
  const entries = Object.entries(value);
  const renamed = entries.map(([key, inner]): [string, unknown] => [
    key === from ? to : key,
    renameKeys(inner, from, to),
  ]);
  const isSame = entries.every(([key, inner], index) => key !== from && inner === renamed[index]?.[1]);
  return isSame ? value : Object.fromEntries(renamed);
}
