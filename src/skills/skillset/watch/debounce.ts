import { systemCode } from "../../../base/failures/system-error.ts";
import type { Clock } from "../../../base/clock.ts";
import { isSkillsError } from "../../../base/errors.ts";
import type { SkillFiles } from "../../files.ts";
import type { DirectoryRecord } from "../read-directory.ts";

/** Milliseconds without hints before a scan: after an ordinary edit, and after a burst such as a checkout. */
const quietAfterEdit = 6;
const quietAfterBurst = 60;
/** The maximum number of directories with hints after an ordinary edit; more are a burst. */
const fewDirectories = 4;
/** The maximum delay of a burst after its first hint. */
const maxWaitMs = 1000;
/** The time in milliseconds for which a loss is held back. */
const lossMs = 40;
const firstRetryMs = 250;
const lastRetryMs = 30_000;

/** Debounces hints: one scan soon after an edit, one scan after a burst. */
export interface Debounce {
  /** Reports a change in this directory. */
  hint(directory: string): void;
  close(): void;
}

/**
 * Opens a debounce. `scan` gets the number of milliseconds without hints that were required; it must not throw. On a busy machine more
 * time may have passed, with hints that were not delivered yet.
 */
export function openDebounce(clock: Clock, scan: (quiet: number) => void): Debounce {
  const touched = new Set<string>();
  let first = 0;
  let last = 0;
  let cancel: (() => void) | undefined;

  function due(): number {
    const quiet = touched.size > fewDirectories ? quietAfterBurst : quietAfterEdit;
    return Math.min(last + quiet, first + maxWaitMs);
  }
  function wait(): void {
    cancel = clock.after(Math.max(due() - clock.now(), 0), wake);
  }
  function wake(): void {
    cancel = undefined;
    // A timer may fire slightly early.
    if (clock.now() + 0.5 < due()) {
      wait();
      return;
    }
    const quiet = Math.max(due() - last, 0);
    touched.clear();
    scan(quiet);
  }
  return {
    hint(directory) {
      last = clock.now();
      if (touched.size === 0) first = last;
      touched.add(directory);
      if (cancel === undefined) wait();
    },
    close() {
      cancel?.();
      cancel = undefined;
      touched.clear();
    },
  };
}

/** Holds back losses for a moment, because editors truncate or rename a file before writing it again. */
export interface Hold {
  /** Whether to retain the previous record of a directory. False if it has been quiet for as long as a loss is held back. */
  isHeld(directory: string, before: DirectoryRecord, now: DirectoryRecord | undefined, quiet?: number): boolean;
  close(): void;
}

/** Opens a hold. `scanAgain` is called when the time of a held directory is over; it must not throw. */
export function openHold(clock: Clock, scanAgain: (directory: string) => void): Hold {
  const waits = new Map<string, { isOver: boolean; readonly cancel: () => void }>();
  return {
    isHeld(directory, before, now, quiet = 0) {
      const wait = waits.get(directory);
      if (quiet >= lossMs || !isLoss(before, now) || wait?.isOver === true) {
        wait?.cancel();
        waits.delete(directory);
        return false;
      }
      if (wait === undefined) {
        const cancel = clock.after(lossMs, () => {
          // The timer decides, not the clock: timers fire slightly early.
          started.isOver = true;
          scanAgain(directory);
        });
        const started = { isOver: false, cancel };
        waits.set(directory, started);
      }
      return true;
    },
    close() {
      for (const { cancel } of waits.values()) cancel();
      waits.clear();
    },
  };
}

/** Whether a skill or a directory disappeared, or a skill became unusable or lost its manifest. */
function isLoss(before: DirectoryRecord, now: DirectoryRecord | undefined): boolean {
  if (now === undefined) return true;
  const [dialect, newDialect] = [before.skill?.dialect, now.skill?.dialect];
  const isGain = dialect === undefined || (dialect === "agent-skills" && newDialect === "skills-protocol");
  if (newDialect !== dialect && !isGain) return true;
  const names = new Set(now.children.map((child) => child.name));
  return before.children.some((child) => !names.has(child.name));
}

/** Detects reads that failed because file descriptors ran out, and retries: no file event occurs when some become available. */
export interface Starvation {
  /** The given files, with detection of failures. */
  readonly files: SkillFiles;
  /** Must be called after each scan: schedules another one with exponential backoff if descriptors were missing. */
  afterScan(): void;
  close(): void;
}

/** Opens a detection of starvation. `again` must scan everything again; it must not throw. */
export function openStarvation(files: SkillFiles, clock: Clock, again: () => void): Starvation {
  let isStarved = false;
  let isClosed = false;
  let wait = firstRetryMs;
  let cancel: (() => void) | undefined;

  function noting<Result>(read: () => Result): Result {
    try {
      return read();
    } catch (error) {
      if (isSkillsError(error) && ["EMFILE", "ENFILE"].includes(systemCode(error.cause))) isStarved = true;
      throw error;
    }
  }

  return {
    files: {
      list: (directory) => noting(() => files.list(directory)),
      head: (file, limit) => noting(() => files.head(file, limit)),
      resolve: (path) => noting(() => files.resolve(path)),
    },
    afterScan() {
      cancel?.();
      cancel = isStarved && !isClosed ? clock.after(wait, again) : undefined;
      wait = isStarved ? Math.min(wait * 2, lastRetryMs) : firstRetryMs;
      isStarved = false;
    },
    close() {
      isClosed = true;
      cancel?.();
    },
  };
}
