import { LimitedMap } from "../../../base/limited-map.ts";
import type { Ask } from "../../../runtime/question.ts";

/** A version of a skill, by its canonical name. */
interface Version {
  readonly name: string;
  readonly digest: string;
}

/** What a person allowed for the next run of a skill from this page: held in memory, used once. */
export interface AllowedNext {
  readonly allow: (version: Version) => void;
  /** Whether it was allowed; it no longer is afterwards. */
  readonly take: (version: Version) => boolean;
}

const most = 1_000;

export function createAllowedNext(): AllowedNext {
  const allowed = new LimitedMap<string, true>(most);
  const keyOf = ({ name, digest }: Version): string => JSON.stringify([name, digest]);
  return {
    allow: (version) => allowed.set(keyOf(version), true),
    take: (version) => allowed.delete(keyOf(version)),
  };
}

/**
 * Answers the questions about one run of the page: the first one about exactly this version with `once` if that was allowed; nobody answers
 * others, because the person decides on the page before a run.
 */
export function askForRun({ name, digest }: Version, isAllowed: boolean): Ask {
  let isOpen = isAllowed;
  return ({ about, skill }) => {
    const isIt = about === "run" && skill?.name === name && skill.digest === digest;
    if (!isOpen || !isIt) return Promise.resolve({ missing: "nobody" });
    isOpen = false;
    return Promise.resolve({ answer: "once" });
  };
}
