/**
 * A JSON copy of a value, so that every door returns the same: dates and bigints become strings, infinities null. A value that is not a
 * mapping becomes an empty object.
 */
export function toJsonObject(value: unknown): Record<string, unknown> {
  const json = toJson(value);
  return typeof json === "object" && json !== null && !Array.isArray(json) ? (json as Record<string, unknown>) : {};
}

function toJson(value: unknown): unknown {
  const text = JSON.stringify(value, (_key, inner: unknown) => (typeof inner === "bigint" ? String(inner) : inner)) as
    string | undefined;
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}
