import type { Lesson } from "./service/skill-service.ts";

/** What one session's model is to be told at its next turn, as the relay holds it ready. */
export interface LessonSlot {
  /** Resolves when it is known for the first time whether there is something to tell. */
  readonly ready: Promise<void>;
  readonly isReady: boolean;
  readonly next: Lesson | undefined;
  prepared(lesson: Lesson | undefined): void;
  /** The model is told what is in the slot, which is empty then. */
  take(told: (ticket: number) => void): void;
}

export function openLessonSlot(): LessonSlot {
  let next: Lesson | undefined;
  let isReady = false;
  let resolveReady = (): void => undefined;
  const ready = new Promise<void>((resolve) => {
    resolveReady = resolve;
  });
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
      isReady = true;
      resolveReady();
    },
    take(told) {
      const lesson = next;
      next = undefined;
      if (lesson !== undefined) told(lesson.ticket);
    },
  };
}
