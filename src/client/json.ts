/** A JSON object whose fields are not known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The fields of an object; undefined for anything else. */
export function fieldsOf(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** The object found by following keys through objects; undefined if any step is none. */
export function fieldsAt(value: unknown, ...keys: readonly string[]): JsonObject | undefined {
  return keys.reduce((found, key) => fieldsOf(found?.[key]), fieldsOf(value));
}

export function isString(value: unknown): value is string {
  return typeof value === "string";
}

/** The items of an array; an empty array for anything else. */
export function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Items by their names; the last of several with one name counts. */
export function byName<Named extends { readonly name: string }>(all: Iterable<Named>): ReadonlyMap<string, Named> {
  const named = new Map<string, Named>();
  for (const one of all) named.set(one.name, one);
  return named;
}

export function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isString);
}

/** Whether two JSON values are equal; fields that are undefined count as absent. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const one = a as Record<string, unknown>;
  const other = b as Record<string, unknown>;
  for (const key in one) if (!isSame(one[key], other[key])) return false;
  for (const key in other) if (one[key] === undefined && other[key] !== undefined) return false;
  return true;
}

/** Returns the list before if the items are the same objects, so that a comparison of lists shows no change. */
export function reuseEqualList<Item>(before: readonly Item[], after: readonly Item[]): readonly Item[] {
  return before.length === after.length && after.every((item, index) => item === before[index]) ? before : after;
}
