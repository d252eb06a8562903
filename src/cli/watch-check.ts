import type { Clock } from "../clock.ts";
import { openNativeWatcher } from "../skills/native-watcher.ts";
import type { OpenSkillWatcher } from "../skills/skill-watcher.ts";
import type { CheckOutcome } from "./run-check.ts";
import type { Terminal } from "./terminal.ts";

/** Saving a file takes several steps; so long after the last one, it is looked at. */
const quietMs = 50;

export interface WatchCheckOptions {
  readonly check: (onDirectory: (directory: string) => void) => Promise<CheckOutcome>;
  readonly print: (outcome: CheckOutcome) => Promise<void>;
  readonly clock: Clock;
  readonly terminal: Pick<Terminal, "tell">;
  readonly openWatcher?: OpenSkillWatcher;
  /** Calls back when the person has seen enough. */
  readonly onInterrupt?: (stop: () => void) => void;
}

/**
 * Checks now, and again after every change, until interrupted. Prints the first outcome, and each one that differs from
 * the one before or comes of a changed file. Resolves with whether the last one failed.
 */
export async function watchCheck(options: WatchCheckOptions): Promise<boolean> {
  const { check, print, clock, terminal, openWatcher = openNativeWatcher, onInterrupt = onSignals } = options;
  let wake = (): void => undefined;
  let stopped = false;
  let changed = true;
  let cancelTimer = (): void => undefined;
  const watcher = openWatcher(
    () => {
      cancelTimer();
      cancelTimer = clock.after(quietMs, () => {
        changed = true;
        wake();
      });
    },
    (message) => {
      terminal.tell(message);
    },
  );
  onInterrupt(() => {
    stopped = true;
    wake();
  });
  // The clock's timers and a watcher's handles may not keep the process alive; this does.
  const alive = setInterval(() => undefined, 2 ** 30);
  let failed = false;
  let before = "";
  try {
    while (!isStopped()) {
      changed = false;
      const outcome = await check((directory) => {
        watcher.add(directory);
      });
      const shown = JSON.stringify([outcome.report.problems, outcome.complaints, outcome.stamp]);
      if (shown !== before || outcome.report.fixed.length > 0) await print(outcome);
      before = shown;
      failed = outcome.failed;
      while (!changed && !isStopped()) await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    clearInterval(alive);
    cancelTimer();
    await watcher.close();
  }
  return failed;

  /** A function, because the compiler cannot see that callbacks change it. */
  function isStopped(): boolean {
    return stopped;
  }
}

function onSignals(stop: () => void): void {
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
}
