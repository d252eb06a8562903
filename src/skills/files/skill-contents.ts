import type { Dirent } from "node:fs";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import { listAtRealPath } from "../../base/paths/at-real-path.ts";
import { byCodePoint } from "../text/code-point-order.ts";

/** The files of a skill, relative to its directory, with `/` on every system. */
export interface SkillContents {
  readonly paths: readonly string[];
  /** Whether there are more than the limit, or than were searched. */
  readonly more: boolean;
}

const maxDirectories = 500;
const skipped: ReadonlySet<string> = new Set(["node_modules", "__pycache__"]);

/**
 * Lists at most `limit` files of a skill in its real directory, breadth first and ordered. Leaves out dot-files, `node_modules`,
 * `__pycache__`, nested skills, links, and unreadable directories.
 */
export async function listSkillContents(directory: string, limit: number): Promise<SkillContents> {
  const paths: string[] = [];
  const waiting = [""];
  for (let visited = 0; visited < maxDirectories; visited++) {
    const inside = waiting.shift();
    if (inside === undefined) return { paths, more: false };
    const entries = readEntries(path.join(directory, inside));
    await setImmediate();
    if (inside !== "" && entries.some(isSkillFile)) continue;
    for (const entry of entries) {
      if (entry.name.startsWith(".") || skipped.has(entry.name)) continue;
      const place = inside === "" ? entry.name : `${inside}/${entry.name}`;
      if (entry.isDirectory()) waiting.push(place);
      if (!entry.isFile()) continue;
      if (paths.length === limit) return { paths, more: true };
      paths.push(place);
    }
  }
  return { paths, more: waiting.length > 0 };
}

/** Whether this file makes its directory a skill. */
export function isSkillFile({ name }: { readonly name: string }): boolean {
  return name === "SKILL.md" || name === "skill.md";
}

function readEntries(directory: string): Dirent[] {
  try {
    return listAtRealPath(directory).sort((a, b) => byCodePoint(a.name, b.name));
  } catch {
    // The scan has already reported the unreadable directory.
    return [];
  }
}
