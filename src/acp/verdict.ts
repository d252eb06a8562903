import type { Amendment } from "./bytes/amend.ts";

/** Whether and how a message is forwarded. */
export type Verdict =
  { readonly forward: true; readonly amendments?: readonly Amendment[] } | { readonly forward: false };

/** It is forwarded unchanged. */
export const untouched: Verdict = { forward: true };
/** It is not forwarded: it was for us, or we have answered it. */
export const kept: Verdict = { forward: false };

export function toVerdict(amendments: readonly Amendment[]): Verdict {
  return amendments.length === 0 ? untouched : { forward: true, amendments };
}
