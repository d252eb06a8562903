import type { Clock } from "../../base/clock.ts";

export interface ParentOptions {
  readonly clock: Clock;
  /** The id of the current parent process; it changes when the parent exits. */
  readonly parent: () => number;
}

const lookEvery = 1_000;

/** Calls `gone` once when the parent process exits: a child of a killed agent may keep its end of a pipe open. */
export function whenParentGone({ clock, parent }: ParentOptions, gone: () => void): () => void {
  const first = parent();
  let stop = clock.after(lookEvery, look);
  function look(): void {
    if (parent() === first) stop = clock.after(lookEvery, look);
    else gone();
  }
  return () => {
    stop();
  };
}
