import { readdirSync, statSync } from "node:fs";
import path from "node:path";

/** One file of a skill. */
export interface SkillContent {
  /** From the skill's directory, with `/` on every system. */
  readonly path: string;
  readonly size_bytes: number;
}

/** The most files that are named (C-3.2). */
export const maxContents = 512;
const maxDepth = 16;
const skipped: ReadonlySet<string> = new Set(["__pycache__", "node_modules"]);

/**
 * The files of a skill with their sizes, by path: at most one more than {@link maxContents}. Leaves out dot-files and the
 * directories of skills inside it. Follows no link out of the directory. What cannot be read is left out.
 */
export function readSkillContents(directory: string): SkillContent[] {
  const contents: SkillContent[] = [];
  visit("", 0);
  return contents;

  function visit(inside: string, depth: number): void {
    for (const entry of sortedEntries(path.join(directory, inside))) {
      if (contents.length > maxContents) return;
      if (entry.name.startsWith(".") || skipped.has(entry.name)) continue;
      const place = inside === "" ? entry.name : `${inside}/${entry.name}`;
      if (entry.isFile()) contents.push({ path: place, size_bytes: fileSize(path.join(directory, place)) });
      if (entry.isDirectory() && depth < maxDepth && !holdsSkill(path.join(directory, place))) visit(place, depth + 1);
    }
  }
}

function sortedEntries(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    // A directory that cannot be listed is reported by whoever looked for skills.
    return [];
  }
}

function holdsSkill(directory: string): boolean {
  return statSync(path.join(directory, "SKILL.md"), { throwIfNoEntry: false }) !== undefined;
}

function fileSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
