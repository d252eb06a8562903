import { systemClock } from "../../../../base/clock.ts";
import { openNativeWatcher } from "../../../../skills/skillset.ts";
import { counted } from "../../../../base/text/code-points.ts";
import { type Terminal, onInterruption } from "../../../report/terminal.ts";
import type { CheckReport } from "../../../../skills/check.ts";

/** The debounce after a change: saving a file takes several steps. */
const quietMs = 50;

/**
 * Checks now, and again after every change, until interrupted or stdout is closed. Prints the first report and, with the time, each later
 * one that differs from the previous one or follows a changed file. Resolves with the last report.
 */
export async function watchCheck(
  check: (onDirectory: (directory: string) => void) => Promise<CheckReport>,
  print: (report: CheckReport) => Promise<void>,
  { note, readerGone }: Pick<Terminal, "note" | "readerGone">,
): Promise<CheckReport> {
  const interruption = onInterruption();
  const stopped = AbortSignal.any([interruption.signal, readerGone]);
  let changes = 0;
  let wake = (): void => undefined;
  let cancelTimer = (): void => undefined;
  const changed = (): void => {
    changes += 1;
    wake();
  };
  const watcher = openNativeWatcher(
    () => {
      cancelTimer();
      cancelTimer = systemClock.after(quietMs, changed);
    },
    (message) => note(message),
  );
  stopped.addEventListener("abort", () => wake());
  try {
    for (let before = ""; ;) {
      const seen = changes;
      const report = await check((directory) => watcher.add(directory));
      const shown = JSON.stringify([report.problems, report.complaints, report.stamp]);
      const isFirst = before === "";
      if (shown !== before || report.fixed.length > 0) {
        if (!isFirst) note(`---- ${new Date().toTimeString().slice(0, 8)} ----`);
        await print(report);
      }
      if (isFirst) note(`watching ${counted(report.checked, "skill")}; press Ctrl-C to stop`);
      before = shown;
      if (changes === seen && !stopped.aborted) await new Promise<void>((resolve) => (wake = resolve));
      if (stopped.aborted) return report;
    }
  } finally {
    interruption.stop();
    cancelTimer();
    await watcher.close();
  }
}
