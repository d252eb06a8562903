import { isObject } from "../../base/json/json-value.ts";
import { executionResult } from "../../wire/skill-sharing.ts";

/** The error of a failed invocation. */
export interface InvocationError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface StaysThere {
  /** How many blobs of the run stay there. */
  readonly blobs: number;
  /** Whether the output stays there, because only a preview was answered. */
  readonly output: boolean;
}

/** The end of an invocation. All texts and values come from the other machine. */
export type InvocationEnd =
  | {
      readonly type: "completed";
      readonly output: unknown;
      readonly summary?: string;
      /** The results that stay on the other machine. */
      readonly there?: StaysThere;
    }
  | { readonly type: "failed"; readonly error: InvocationError }
  | { readonly type: "timeout" };

/** Converts a result. An immediate answer that is no result is the output as a whole. */
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
      // A hint is meant for the other machine; here it would pass for one of acp-skills.
      ...(isObject(details) && { details: without(details, "hint") }),
    },
  };
}

/** Removes the id of the blob that holds the whole output on the other machine: here it would pass for the id of a local blob. */
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
