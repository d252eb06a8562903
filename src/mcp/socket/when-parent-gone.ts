import type { Clock } from "../../base/clock.ts";

export interface ParentOptions {
  readonly clock: Clock;
  /** The id of the parent process as it is now: another one means that the parent is gone. */
  readonly parent: () => number;
}

const lookEvery = 1_000;

/** Calls back once when the parent is gone: an agent that is killed may leave its end of a pipe open in a child of its own. */
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
