import type { Amendment } from "./bytes/amend.ts";

/** What becomes of a message that passes through. */
export type Verdict =
  { readonly forward: true; readonly amendments?: readonly Amendment[] } | { readonly forward: false };

/** It passes as it came. */
export const untouched: Verdict = { forward: true };
/** It ends here: it was for us, or we have answered it. */
export const kept: Verdict = { forward: false };

export function toVerdict(amendments: readonly Amendment[]): Verdict {
  return amendments.length === 0 ? untouched : { forward: true, amendments };
}
