import { findIgnoreRule } from "../ignore/ignored.ts";
import type { IgnoreRules } from "../ignore/ignored.ts";
import type { DirectoryRecord } from "../files/read-directory.ts";
import { joinPath } from "../files/skill-files.ts";
import { isVersion } from "../manifest/skill-version.ts";
import type { Steps } from "../../base/slices.ts";
import type { UnreadPlace } from "./unread-places.ts";

/** A directory still to be visited. */
export interface Visit {
  readonly path: string;
  /** As its skill should be called. */
  readonly expectedName: string;
  readonly depth: number;
  readonly rules: IgnoreRules;
  readonly allowance: Allowance;
  /** The directory that holds it; undefined for a root. */
  readonly parent: DirectoryRecord | undefined;
}

/** The directories below one; those before `next` have been visited. */
export interface Level {
  readonly record: DirectoryRecord;
  /** As the skill of a version should be called. */
  readonly expectedName: string;
  readonly depth: number;
  readonly rules: IgnoreRules;
  readonly allowance: Allowance;
  next: number;
}

/** How many more directories without a skill may be read below `owner`. */
export interface Allowance {
  readonly owner: string;
  readonly insideSkill: boolean;
  readonly limit: number;
  left: number;
}

/** Depth first: what lies below a directory comes before its neighbours. */
export function* nextVisit(levels: Level[], unread: UnreadPlace[]): Steps<Visit | undefined> {
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const { record, depth, rules, allowance } = level;
    const child = record.children[level.next++];
    if (child === undefined) {
      levels.pop();
      continue;
    }
    const { name, target } = child;
    const below = joinPath(record.path, name);
    const rule = rules.length > 0 ? yield* findIgnoreRule(rules, below) : undefined;
    if (rule !== undefined) {
      if (rule.ofGit && target === undefined) unread.push({ path: below, parent: record, reason: "ignored" });
      continue;
    }
    const expectedName = isVersion(name) ? level.expectedName : name;
    return { path: target ?? below, expectedName, depth, rules, allowance, parent: record };
  }
  return undefined;
}

export function newAllowance(owner: string, insideSkill: boolean, limit: number): Allowance {
  return { owner, insideSkill, limit, left: limit };
}
