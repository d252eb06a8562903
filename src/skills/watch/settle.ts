import type { Clock } from "../../base/clock.ts";

/** Debounce times in milliseconds, and how many directories an ordinary edit touches at most. */
export interface SettlePace {
  /** After the last hint of an ordinary edit. */
  readonly quiet: number;
  /** After the last hint of a burst, such as a checkout. */
  readonly burstQuiet: number;
  /** Maximum delay of a burst after its first hint. */
  readonly longest: number;
  readonly fewDirectories: number;
}

/** Debounces hints: a look soon after one edit, one look after a burst. */
export interface Settle {
  /** Something changed in this directory. */
  hint(directory: string): void;
  close(): void;
}

const ordinaryPace: SettlePace = { quiet: 6, burstQuiet: 60, longest: 1000, fewDirectories: 4 };

/**
 * `look` gets the number of milliseconds without hints that were required; it must not throw. On a busy machine more time may have
 * passed, with hints that were not delivered yet.
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
    // A timer may fire slightly early.
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
