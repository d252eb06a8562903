import { createDeferred } from "../../base/deferred.ts";
import type { Lesson } from "../service/skill-service.ts";

/** The lesson for one session's next prompt. */
export interface LessonSlot {
  /** Resolves when the skills were read and the first lesson, if any, is known. */
  readonly ready: Promise<void>;
  readonly isReady: boolean;
  readonly next: Lesson | undefined;
  prepared(lesson: Lesson | undefined): void;
  /** The session's history contains the lesson with this label; if it is the next one, `told` is called. */
  heard(label: string, told: (ticket: number) => void): void;
  /** The lesson was added to a message. */
  take(told: (ticket: number) => void): void;
}

export function openLessonSlot(): LessonSlot {
  let next: Lesson | undefined;
  let isReady = false;
  const { promise: ready, resolve: resolveReady } = createDeferred();
  let inHistory: { readonly label: string; readonly told: (ticket: number) => void } | undefined;
  function skipHeard(): void {
    if (next === undefined || next.label !== inHistory?.label) return;
    inHistory.told(next.ticket);
    next = undefined;
  }
  return {
    ready,
    get isReady() {
      return isReady;
    },
    get next() {
      return next;
    },
    prepared(lesson) {
      next = lesson;
      skipHeard();
      isReady = true;
      resolveReady();
    },
    heard(label, told) {
      inHistory = { label, told };
      skipHeard();
    },
    take(told) {
      const lesson = next;
      next = undefined;
      inHistory = undefined;
      if (lesson !== undefined) told(lesson.ticket);
    },
  };
}
