import type { Lesson } from "../service/skill-service.ts";

/** What one session's model is to be told at its next turn, as the relay holds it ready. */
export interface LessonSlot {
  /** Resolves when it is known for the first time whether there is something to tell. */
  readonly ready: Promise<void>;
  readonly isReady: boolean;
  readonly next: Lesson | undefined;
  prepared(lesson: Lesson | undefined): void;
  /** The session's history holds the lesson with this label; `told` is called when that is the one to be told. */
  heard(label: string, told: (ticket: number) => void): void;
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
