import { type Clock, every } from "../../base/clock.ts";
import type { SkillFiles } from "../../skills/files.ts";
import { cutToWidth } from "./table.ts";
import { safeText } from "./safe-text.ts";

/** A progress line, updated in place once work has taken a second. */
export interface Progress {
  /** Sets the text. Cheap: may be called for every file. */
  readonly show: (activity: string) => void;
  /** Erases the line so that other output can be printed; it is shown again after a second. */
  readonly erase: () => void;
  /** Ends the progress and erases the line. */
  readonly done: () => void;
}

interface ProgressStream {
  write(text: string): void;
  readonly columns?: number;
}

const patienceMs = 1000;
const redrawMs = 100;
const eraseLine = "\r\u001b[2K";

export function createProgress(stream: ProgressStream, clock: Clock): Progress {
  let activity = "";
  let startedAt: number | undefined;
  let drawnAt = -Infinity;
  let isDrawn = false;
  let stopTimer = (): void => undefined;

  function draw(): void {
    if (startedAt === undefined) return;
    drawnAt = clock.now();
    isDrawn = true;
    const seconds = Math.floor((drawnAt - startedAt) / 1000);
    const line = `${safeText(activity)} … ${seconds} s`;
    stream.write(eraseLine + cutToWidth(line, (stream.columns || 80) - 1));
  }
  function erase(): void {
    if (isDrawn) stream.write(eraseLine);
    isDrawn = false;
  }
  return {
    show(next) {
      activity = next;
      if (startedAt === undefined) {
        startedAt = clock.now();
        stopTimer = every(clock, patienceMs, draw);
      }
      // During synchronous work no timer fires.
      const now = clock.now();
      if (now - startedAt >= patienceMs && now - drawnAt >= redrawMs) draw();
    },
    erase,
    done() {
      stopTimer();
      erase();
      startedAt = undefined;
    },
  };
}

/** Shows how many directories have been read through `files`. */
export function showReads(files: SkillFiles, progress: Progress): SkillFiles {
  let directories = 0;
  return {
    ...files,
    list(directory) {
      progress.show(`reading skills: ${++directories} directories`);
      return files.list(directory);
    },
  };
}
