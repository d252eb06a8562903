import { labelOf, type Taught, type Teaching, toLesson, toNews } from "./teaching.ts";

/** The lessons that one session's model has got, and the next one. */
export interface Lessons {
  /**
   * The next lesson, its label, and a callback for when it was sent; undefined if nothing is new.
   */
  next(
    skills: Taught,
    reach: Teaching["reach"],
  ): { readonly text: string; readonly label: string; readonly told: () => void } | undefined;
}

/** Opens the lessons of a new session. */
export function openLessons(naming: Pick<Teaching, "facts" | "server">): Lessons {
  let before: { readonly skills: Taught; readonly reach: Teaching["reach"] } | undefined;
  return {
    next(skills, reach) {
      const teaching = { ...naming, reach };
      // The other way to use skills needs another lesson.
      const text = before?.reach === reach ? toNews(before.skills, skills, teaching) : toLesson(skills, teaching);
      if (text === undefined) return undefined;
      const told = (): void => {
        before = { skills, reach };
      };
      return { text, label: labelOf(skills, teaching), told };
    },
  };
}
