/** Reads raw JSON-RPC messages: nothing is assumed without a check. */

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Follows `keys` through objects. Undefined if any value on the way, or at the end, is not an object. */
export function recordAt(value: unknown, ...keys: readonly string[]): JsonRecord | undefined {
  let current = value;
  for (const key of keys) {
    if (!isRecord(current) || !Object.hasOwn(current, key)) return undefined;
    current = current[key];
  }
  return isRecord(current) ? current : undefined;
}

/** Reads the text of a content block; undefined for blocks of other types. */
export function blockText(block: unknown): string | undefined {
  return isRecord(block) && block["type"] === "text" && typeof block["text"] === "string" ? block["text"] : undefined;
}

/** The kind of a JSON-RPC message, with the fields of that kind. */
export type MessageKind =
  | { readonly kind: "request"; readonly id: string | number; readonly method: string; readonly params: JsonRecord }
  | { readonly kind: "notification"; readonly method: string; readonly params: JsonRecord }
  | { readonly kind: "response"; readonly id: string | number; readonly result: unknown; readonly failed: boolean }
  | { readonly kind: "other" };

const other: MessageKind = { kind: "other" };
const noParams: JsonRecord = Object.freeze({});

/** Classifies a message. Batches, and responses with a null id, are `other`. */
export function readMessage(message: unknown): MessageKind {
  if (!isRecord(message)) return other;
  const { id, method } = message;
  const hasId = typeof id === "string" || typeof id === "number";
  if (typeof method === "string") {
    const params = isRecord(message["params"]) ? message["params"] : noParams;
    if (hasId) return { kind: "request", id, method, params };
    return id === undefined ? { kind: "notification", method, params } : other;
  }
  if (!hasId || method !== undefined) return other;
  const failed = message["error"] !== undefined && message["error"] !== null;
  if (!failed && !("result" in message)) return other;
  return { kind: "response", id, result: message["result"], failed };
}

/** Whether an id is unchanged when a response repeats it: integers above 2^53 are not. */
export function isExactId(id: string | number): boolean {
  return typeof id === "string" || Math.abs(id) <= Number.MAX_SAFE_INTEGER;
}
