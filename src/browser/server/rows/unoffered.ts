import path from "node:path";
import { unreadPlace } from "../../../skills/skillset.ts";
import type { Problem, RuleCode } from "../../../skills/rules.ts";
import type { Snapshot } from "../../../skills/skill.ts";
import type { Steps } from "../../../base/promises/slices.ts";
import { rowsAtOnce } from "./row-texts.ts";

/** What a snapshot has besides the skills that it offers. */
export interface Unoffered {
  /** The problems of each skill that is not offered, by the path of its file. */
  readonly skills: ReadonlyMap<string, readonly Problem[]>;
  /** What was not read whole, so that skills may be missing. */
  readonly unread: readonly Problem[];
}

const ofPlaces: ReadonlySet<string> = new Set<RuleCode>([...unreadPlace, "dangling-symlink"]);

/** The number of places that are listed; others are left out. */
const mostUnread = 100;

/** Finds the skills that are not offered: those with problems of which one is an error or says that another skill hides it. */
export function* findUnoffered({ skills, problems }: Snapshot): Steps<Unoffered> {
  const offered = new Set<string>();
  let count = 0;
  if (problems.length > 0)
    for (const { versions } of skills) {
      for (const { file } of versions) offered.add(path.dirname(file));
      if (++count % rowsAtOnce === 0) yield;
    }
  const found = new Map<string, Problem[]>();
  const unread: Problem[] = [];
  for (const problem of problems) {
    if (++count % rowsAtOnce === 0) yield;
    const { file, code, severity } = problem;
    const directory = path.dirname(file);
    if (offered.has(directory)) continue;
    // A place that was left out is named by the first skill in it.
    if (!isSkillFile(file) || (ofPlaces.has(code) && code !== "unreadable" && code !== "dangling-symlink")) {
      if (severity !== "note" && ofPlaces.has(code) && unread.length < mostUnread) unread.push(problem);
      continue;
    }
    const key = path.basename(file).toLowerCase() === "skill.toml" ? path.join(directory, "SKILL.md") : file;
    const others = found.get(key);
    if (others === undefined) found.set(key, [problem]);
    else others.push(problem);
  }
  for (const [file, own] of found)
    if (!own.some(({ severity, code }) => severity === "error" || code === "skill-shadowed")) found.delete(file);
  return { skills: found, unread };
}

function isSkillFile(file: string): boolean {
  return /^(?:skills?\.md|skill\.toml)$/i.test(path.basename(file));
}
