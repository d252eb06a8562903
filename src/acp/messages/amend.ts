import type { OnceLog } from "../../base/log.ts";
import { isRecord } from "./raw-message.ts";

export type Path = readonly (string | number)[];

/** Items of a list: values, or the JSON of at least one value, separated by commas. */
export type Items = readonly unknown[] | { readonly json: Uint8Array };

/**
 * A change to a message. The first kind sets the value at a path, of which only the last key may be new. The second kind replaces `remove`
 * items of the array at a path, from index `at` on, by `insert`.
 */
export type Amendment =
  | { readonly path: Path; readonly value: unknown }
  | { readonly path: Path; readonly at: number; readonly remove: number; readonly insert: Items };

/** Applies amendments to a copy of a message, which shares untouched values with the message. */
export function amendValue(message: unknown, amendments: readonly Amendment[]): unknown {
  return amendments.reduce((value, amendment) => amendAt(value, amendment.path, amendment), message);
}

function amendAt(value: unknown, path: Path, amendment: Amendment): unknown {
  const [key, ...rest] = path;
  if (key === undefined) {
    if ("value" in amendment) return amendment.value;
    if (!Array.isArray(value)) throw notThere(amendment.path);
    const { at, remove, insert } = amendment;
    // Not `splice` with spread arguments: thousands of them overflow the stack.
    return [...(value as unknown[]).slice(0, at), ...toValues(insert), ...(value as unknown[]).slice(at + remove)];
  }
  if (Array.isArray(value) && typeof key === "number" && key in value)
    return value.with(key, amendAt(value[key], rest, amendment));
  if (!isRecord(value)) throw notThere(amendment.path);
  const isOwn = Object.hasOwn(value, key);
  if (!isOwn && (rest.length > 0 || !("value" in amendment))) throw notThere(amendment.path);
  return { ...value, [key]: amendAt(isOwn ? value[key] : undefined, rest, amendment) };
}

function toValues(items: Items): readonly unknown[] {
  return "json" in items ? (JSON.parse(`[${Buffer.from(items.json).toString()}]`) as unknown[]) : items;
}

export function notThere(path: Path): RangeError {
  return new RangeError(`nothing at ${path.join("/")}`);
}

/** Whether and how a message is forwarded. */
export type Verdict =
  { readonly forward: true; readonly amendments?: readonly Amendment[] } | { readonly forward: false };

/** The verdict that the message is forwarded unchanged. */
export const untouched: Verdict = { forward: true };
/** The verdict that the message is not forwarded: it was addressed to acp-skills, or acp-skills has answered it. */
export const notForwarded: Verdict = { forward: false };

export function toVerdict(amendments: readonly Amendment[]): Verdict {
  return amendments.length === 0 ? untouched : { forward: true, amendments };
}

/** Logs an error of this package, once per message. The message that was being processed is forwarded unchanged. */
export function reportFault({ logOnce }: Pick<OnceLog, "logOnce">, error: unknown): void {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  logOnce("error", `Internal error in acp-skills; messages are forwarded unchanged. ${stack ?? message}`, message);
}
