import { statSync } from "node:fs";
import type { Stats } from "node:fs";

/** Of what a path leads to; undefined where that is nowhere, or may not be looked at: whoever reads it says why. */
export function statsOf(target: string): Stats | undefined {
  try {
    return statSync(target, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
