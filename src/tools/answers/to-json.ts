/**
 * A copy of a value as JSON can carry it, so that every door gives the same: dates and whole numbers beyond what JSON can tell
 * apart become text, infinities null. Anything but a mapping becomes an empty one.
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
