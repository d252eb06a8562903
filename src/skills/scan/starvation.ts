import type { Clock } from "../../base/clock.ts";
import { isSkillsError } from "../../errors.ts";
import type { SkillFiles } from "../files/skill-files.ts";

/** Detects reads that failed because file descriptors ran out, and retries: no file event occurs when some become available. */
export interface Starvation {
  /** The same files, with failures detected. */
  readonly files: SkillFiles;
  /** Call after each look: schedules another one with exponential backoff if descriptors were missing. */
  afterLook(): void;
  close(): void;
}

const firstRetryMs = 250;
const lastRetryMs = 30_000;

/** `again` is called to look at everything again; it must not throw. */
export function openStarvation(files: SkillFiles, clock: Clock, again: () => void): Starvation {
  let isStarved = false;
  let isClosed = false;
  let wait = firstRetryMs;
  let cancel: (() => void) | undefined;

  function noting<Result>(read: () => Result): Result {
    try {
      return read();
    } catch (error) {
      if (lacksDescriptors(error) || (isSkillsError(error) && lacksDescriptors(error.cause))) isStarved = true;
      throw error;
    }
  }

  return {
    files: {
      list: (directory) => noting(() => files.list(directory)),
      head: (file, limit) => noting(() => files.head(file, limit)),
      resolve: (path) => noting(() => files.resolve(path)),
    },
    afterLook() {
      cancel?.();
      cancel = undefined;
      if (isStarved && !isClosed) {
        cancel = clock.after(wait, again);
        wait = Math.min(wait * 2, lastRetryMs);
      } else wait = firstRetryMs;
      isStarved = false;
    },
    close() {
      isClosed = true;
      cancel?.();
      cancel = undefined;
    },
  };
}

function lacksDescriptors(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EMFILE" || error.code === "ENFILE");
}
