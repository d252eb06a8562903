import type { SessionSkills } from "../../skills/skillset.ts";
import type { Snapshot } from "../../skills/skill.ts";

const nothing: Snapshot = Object.freeze({ skills: [], problems: [] });

/** What a session has when its skills could not be opened at all: chat goes on without them. */
export function noSkills(problem: string): SessionSkills {
  return {
    directory: undefined,
    catalog: {
      snapshot: nothing,
      ready: Promise.resolve(nothing),
      onChange: () => () => undefined,
      find: () => undefined,
    },
    problems: [problem],
    close: () => undefined,
  };
}
