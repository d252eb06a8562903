import { type Taught, toLesson, toNews, type ToolNaming } from "./teaching.ts";

/** What one session's model was told, and what it is to be told next. */
export interface Lessons {
  /** What is new to the model, and how to note that it was told; undefined where nothing is. */
  next(skills: Taught): { readonly text: string; readonly told: () => void } | undefined;
}

/** A session in which nothing was told yet. */
export function openLessons(naming: ToolNaming): Lessons {
  let taught: Taught | undefined;
  return {
    next(skills) {
      const text = taught === undefined ? toLesson(skills, naming) : toNews(taught, skills, naming);
      if (text === undefined) return undefined;
      const told = (): void => {
        taught = skills;
      };
      return { text, told };
    },
  };
}
