const proto = "__proto__";
/** Contains a lone surrogate, which decoded text never does, so it cannot collide with another key. */
const standIn = "\ud800__proto__";

/**
 * Replaces every `__proto__` key by a placeholder, because the schema library drops such keys when it parses. Returns the same object
 * if there are none.
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
  // TOML dates are objects, but not tables.
  if (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null) return value;
  const entries = Object.entries(value);
  const renamed = entries.map(([key, inner]): [string, unknown] => [
    key === from ? to : key,
    renameKeys(inner, from, to),
  ]);
  const isSame = entries.every(([key, inner], index) => key !== from && inner === renamed[index]?.[1]);
  return isSame ? value : Object.fromEntries(renamed);
}
