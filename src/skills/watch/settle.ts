import type { Clock } from "../../base/clock.ts";

/** Milliseconds of the policy, and how many directories an ordinary edit touches at most. */
export interface SettlePace {
  /** After the last hint of an ordinary edit. */
  readonly quiet: number;
  /** After the last hint of a burst, such as a checkout. */
  readonly burstQuiet: number;
  /** A burst waits no longer than this after its first hint. */
  readonly longest: number;
  readonly fewDirectories: number;
}

/** Turns hints into moments to look: soon after one edit, once after a burst. */
export interface Settle {
  /** Something happened in this directory. */
  hint(directory: string): void;
  close(): void;
}

const ordinaryPace: SettlePace = { quiet: 6, burstQuiet: 60, longest: 1000, fewDirectories: 4 };

/**
 * `look` is told for how many milliseconds it was to be quiet; it must not throw. On a busy machine more may have passed,
 * with hints in it that nobody has heard yet.
 */
export function openSettle(clock: Clock, look: (quiet: number) => void, pace: SettlePace = ordinaryPace): Settle {
  const touched = new Set<string>();
  let first = 0;
  let last = 0;
  let cancel: (() => void) | undefined;

  function wakeAt(moment: number): void {
    cancel = clock.after(Math.max(moment - clock.now(), 0), wake);
  }
  function due(): number {
    const quiet = touched.size > pace.fewDirectories ? pace.burstQuiet : pace.quiet;
    return Math.min(last + quiet, first + pace.longest);
  }
  function wake(): void {
    cancel = undefined;
    // A timer may fire a little early.
    if (clock.now() + 0.5 < due()) {
      wakeAt(due());
      return;
    }
    const quiet = Math.max(due() - last, 0);
    touched.clear();
    look(quiet);
  }
  return {
    hint(directory) {
      last = clock.now();
      if (touched.size === 0) first = last;
      touched.add(directory);
      if (cancel === undefined) wakeAt(due());
    },
    close() {
      cancel?.();
      cancel = undefined;
      touched.clear();
    },
  };
}
