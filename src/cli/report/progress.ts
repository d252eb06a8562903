import type { Clock } from "../../base/clock.ts";
import type { SkillFiles } from "../../skills/files/skill-files.ts";
import { cutToWidth } from "./display-width.ts";
import { safeText } from "./safe-text.ts";

/** Tells a person what takes so long: one line, rewritten in place, once work has taken a second. Nothing where stderr is not a terminal. */
export interface Progress {
  /** What is being done now. Cheap: may be called for every file. */
  readonly show: (activity: string) => void;
  /** Removes the line, so that something else can be printed; it comes back with the next second. */
  readonly erase: () => void;
  /** The work is over. */
  readonly done: () => void;
}

export interface ProgressStream {
  write(text: string): void;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

const patienceMs = 1000;
const redrawMs = 100;
const eraseLine = "\r\u001b[2K";

export function openProgress(stream: ProgressStream, clock: Clock): Progress {
  if (stream.isTTY !== true) return silentProgress;
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
  function tick(): void {
    draw();
    stopTimer = clock.after(patienceMs, tick);
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
        stopTimer = clock.after(patienceMs, tick);
      }
      // Work that never gives up its turn leaves none to the timer.
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

const silentProgress: Progress = { show: () => undefined, erase: () => undefined, done: () => undefined };

/** Shows how many directories have been read through `files`. */
export function showReads(files: SkillFiles, progress: Progress): SkillFiles {
  let directories = 0;
  return {
    list(directory) {
      progress.show(`reading skills: ${++directories} directories`);
      return files.list(directory);
    },
    head: (file, limit) => files.head(file, limit),
    resolve: (path) => files.resolve(path),
  };
}
