import { labelOf, type Taught, type Teaching, toLesson, toNews } from "./teaching.ts";

/** What one session's model was told, and what it is to be told next. */
export interface Lessons {
  /**
   * What is new to the model, the label that stands in its marks, and how to note that it was told; undefined where nothing is new.
   */
  next(
    skills: Taught,
    reach: Teaching["reach"],
  ): { readonly text: string; readonly label: string; readonly told: () => void } | undefined;
}

/** A session in which nothing was told yet. */
export function openLessons(naming: Pick<Teaching, "facts" | "server">): Lessons {
  let before: { readonly skills: Taught; readonly reach: Teaching["reach"] } | undefined;
  return {
    next(skills, reach) {
      const teaching = { ...naming, reach };
      // Another way to reach skills is another lesson.
      const text = before?.reach === reach ? toNews(before.skills, skills, teaching) : toLesson(skills, teaching);
      if (text === undefined) return undefined;
      const told = (): void => {
        before = { skills, reach };
      };
      return { text, label: labelOf(skills, teaching), told };
    },
  };
}
