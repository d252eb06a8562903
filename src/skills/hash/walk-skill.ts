import { relative, sep } from "node:path";
import { isSkillsError } from "../../errors.ts";
import { byCodePoint } from "../text/code-point-order.ts";
import { isWithin } from "../../base/is-within.ts";
import { joinPath } from "../files/real-paths.ts";
import type { Entry, SkillFiles } from "../files/skill-files.ts";
import type { Steps } from "../../base/slices.ts";
import { isHiddenName, skillPathFault } from "./skill-path.ts";

/** Beyond this many files, or entries looked at, a skill's files are not all counted. */
const maxWalkedFiles = 4096;
const maxWalkedEntries = 20_000;

/** A file of a skill that is served: its path as read_skill_file takes it, and its real path. */
export interface WalkedFile {
  readonly path: string;
  readonly real: string;
}

export interface Walk {
  /** Ordered by code point. */
  readonly files: readonly WalkedFile[];
  /** False when the walk ended at one of its limits. */
  readonly complete: boolean;
}

/**
 * Every file below a skill's directory that read_skill_file would serve. Links are followed inside the directory only. What
 * cannot be read is left out, except the directory itself: that throws UNREADABLE.
 */
export function* walkSkill(source: SkillFiles, root: string): Steps<Walk> {
  const files: WalkedFile[] = [];
  let entriesLeft = maxWalkedEntries;
  let complete = true;

  function* walkDirectory(real: string, prefix: string, above: readonly string[]): Steps<void> {
    const entries = prefix === "" ? source.list(real) : (orNothing(() => source.list(real)) ?? []);
    yield;
    for (const entry of inPathOrder(entries)) {
      if (files.length >= maxWalkedFiles || --entriesLeft < 0) complete = false;
      if (!complete) return;
      const path = prefix + entry.name;
      if (skillPathFault(path) !== undefined) continue;
      const target = entry.link ? followInside(source, joinPath(real, entry.name), root) : joinPath(real, entry.name);
      if (target === undefined) continue;
      if (entry.kind === "file") files.push({ path, real: target });
      else if (!above.includes(target)) yield* walkDirectory(target, `${path}/`, [...above, target]);
    }
  }
  yield* walkDirectory(root, "", [root]);
  return { files, complete };
}

/** Where a link really leads, if that is inside the directory, and nothing on the way is hidden. */
function followInside(source: SkillFiles, link: string, root: string): string | undefined {
  const real = orNothing(() => source.resolve(link));
  return real !== undefined && isWithin(real, root) && !isHiddenBelow(real, root) ? real : undefined;
}

/** Whether a real path below a skill's directory has a name on its way that is never served. */
export function isHiddenBelow(real: string, root: string): boolean {
  return relative(root, real).split(sep).some(isHiddenName);
}

/** Directories are ordered as their paths continue, with a slash. */
function inPathOrder(entries: readonly Entry[]): Entry[] {
  const key = ({ name, kind }: Entry): string => (kind === "directory" ? `${name}/` : name);
  return entries
    .filter(({ name, kind }) => (kind === "file" || kind === "directory") && !isHiddenName(name))
    .sort((a, b) => byCodePoint(key(a), key(b)));
}

/** What may not be read is left out: it does not hide the rest. */
export function orNothing<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (isSkillsError(error) && error.code === "UNREADABLE") return undefined;
    throw error;
  }
}
