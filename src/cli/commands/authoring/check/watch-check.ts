import type { Clock } from "../../../../base/clock.ts";
import { type OpenSkillWatcher, openNativeWatcher } from "../../../../skills/skillset.ts";
import { counted } from "../../../../base/text/code-points.ts";
import type { Terminal } from "../../../report/terminal.ts";
import type { CheckReport } from "../../../../skills/check.ts";

/** Saving a file takes several steps: the debounce after the last one. */
const quietMs = 50;

export interface WatchCheckOptions {
  readonly check: (onDirectory: (directory: string) => void) => Promise<CheckReport>;
  readonly print: (report: CheckReport) => Promise<void>;
  readonly clock: Clock;
  /** The time that is shown; default: that of this machine. */
  readonly now?: () => Date;
  readonly terminal: Pick<Terminal, "note" | "readerGone">;
  readonly openWatcher?: OpenSkillWatcher;
  /** Calls back when the person interrupts. */
  readonly onInterrupt?: (stop: () => void) => void;
}

/**
 * Checks now, and again after every change, until interrupted or stdout is closed. Prints the first report, and each that differs from
 * the one before or follows a changed file, with the time. Resolves with the last one.
 */
export async function watchCheck(options: WatchCheckOptions): Promise<CheckReport> {
  const { check, print, clock, terminal, openWatcher = openNativeWatcher, onInterrupt = onSignals } = options;
  const { now = () => new Date() } = options;
  const events = openEvents();
  let cancelTimer = (): void => undefined;
  const watcher = openWatcher(
    () => {
      cancelTimer();
      cancelTimer = clock.after(quietMs, () => {
        events.post("changed");
      });
    },
    (message) => {
      terminal.note(message);
    },
  );
  onInterrupt(() => {
    events.post("stopped");
  });
  terminal.readerGone.addEventListener("abort", () => {
    events.post("stopped");
  });
  // The clock's timers and a watcher's handles do not keep the process alive; this does.
  const alive = setInterval(() => undefined, 2 ** 30);
  const addDirectory = (directory: string): void => {
    watcher.add(directory);
  };
  let report: CheckReport;
  let before = "";
  try {
    do {
      report = await check(addDirectory);
      const shown = JSON.stringify([report.problems, report.complaints, report.stamp]);
      const isFirst = before === "";
      if (shown !== before || report.fixed.length > 0) {
        if (!isFirst) terminal.note(`---- ${now().toTimeString().slice(0, 8)} ----`);
        await print(report);
      }
      if (isFirst) terminal.note(`watching ${counted(report.checked, "skill")}; press Ctrl-C to stop`);
      before = shown;
    } while ((await events.next()) === "changed");
  } finally {
    clearInterval(alive);
    cancelTimer();
    await watcher.close();
  }
  return report;
}

type WatchEvent = "changed" | "stopped";

/** The latest event, held until it is read. Nothing follows "stopped". */
function openEvents(): { post(what: WatchEvent): void; next(): Promise<WatchEvent> } {
  let latest: WatchEvent | undefined;
  let wake = (): void => undefined;
  return {
    post(what) {
      if (latest !== "stopped") latest = what;
      wake();
    },
    async next() {
      while (latest === undefined) await new Promise<void>((resolve) => (wake = resolve));
      const event = latest;
      if (event === "changed") latest = undefined;
      return event;
    },
  };
}

function onSignals(stop: () => void): void {
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
}
