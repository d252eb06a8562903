import type { Dirent } from "node:fs";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import { listAtRealPath } from "../../base/at-real-path.ts";
import { byCodePoint } from "../text/code-point-order.ts";

/** The files of a skill, from its directory, with `/` on every system. */
export interface SkillContents {
  readonly paths: readonly string[];
  /** Whether there are more than were asked for, or than were looked for. */
  readonly more: boolean;
}

const maxDirectories = 500;
const skipped: ReadonlySet<string> = new Set(["node_modules", "__pycache__"]);

/**
 * Lists the files of a skill, from its real directory, at most `limit`: those near the top first, each directory's in order. Leaves out dot-files,
 * `node_modules`, `__pycache__`, and the skills inside it. Follows no links; what cannot be listed is left out.
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

/** Whether this makes its directory a skill of its own. */
export function isSkillFile({ name }: { readonly name: string }): boolean {
  return name === "SKILL.md" || name === "skill.md";
}

function readEntries(directory: string): Dirent[] {
  try {
    return listAtRealPath(directory).sort((a, b) => byCodePoint(a.name, b.name));
  } catch {
    // The list is a help, and whoever looked for skills has reported a directory that cannot be listed.
    return [];
  }
}
