import { isObject } from "../../base/json/json-value.ts";
import { executionResult } from "../../wire/skill-sharing.ts";

/** Why an invocation failed. */
export interface InvocationError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface StaysThere {
  /** How many blobs of the run. */
  readonly blobs: number;
  /** The output, of which only a preview was answered. */
  readonly output: boolean;
}

/** How an invocation ended. All texts and values are those of the other machine. */
export type InvocationEnd =
  | {
      readonly type: "completed";
      readonly output: unknown;
      readonly summary?: string;
      /** What of its result stays on the other machine. */
      readonly there?: StaysThere;
    }
  | { readonly type: "failed"; readonly error: InvocationError }
  | { readonly type: "timeout" };

/** From a result; of an immediate answer that is none, all of it is the output. */
export function toEnd(value: unknown, isImmediate: boolean): InvocationEnd {
  const read = executionResult.safeParse(
    isImmediate && isObject(value) ? { execution_id: "immediate", ...value } : value,
  );
  if (!read.success) return { type: "completed", ...toOwnOutput(value) };
  const { status, output = null, error, summary } = read.data;
  if (status === "completed") {
    const own = toOwnOutput(output, countBlobs(read.data));
    return { type: "completed", ...own, ...(typeof summary === "string" && { summary }) };
  }
  const type = error?.type ?? (status === "cancelled" ? "CancelledError" : "RemoteError");
  const message = error?.message ?? `The execution was ${status}.`;
  const { code, details } = (error ?? {}) as { readonly code?: unknown; readonly details?: unknown };
  return {
    type: "failed",
    error: {
      type,
      message,
      ...(typeof code === "string" && { code }),
      // Advice is for that machine, or would pass for ours.
      ...(isObject(details) && { details: without(details, "hint") }),
    },
  };
}

/** Without the id of the blob that holds all of it there: here it would pass for one of ours. */
function toOwnOutput(output: unknown, blobs = 0): { readonly output: unknown; readonly there?: StaysThere } {
  if (!isObject(output) || output.truncated !== true || typeof output.blob_id !== "string")
    return { output, ...(blobs > 0 && { there: { blobs, output: false } }) };
  return { output: without(output, "blob_id"), there: { blobs, output: true } };
}

function countBlobs({ output_blobs: listed, more_output_blobs: more }: Readonly<Record<string, unknown>>): number {
  const others = isObject(more) && typeof more.count === "number" ? more.count : 0;
  return (Array.isArray(listed) ? listed.length : 0) + others;
}

function without(value: Readonly<Record<string, unknown>>, field: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== field));
}
