import { homePath } from "../../../base/paths/shown-path.ts";
import { isSkillsError } from "../../../base/errors.ts";
import { type InstalledState, differenceWords, stateOf } from "../../../sources/installed.ts";
import type { LockEntry } from "../../../sources/lock.ts";
import { readLock } from "../../../sources/lock-file.ts";
import {
  type SkillsPlace,
  findSkillsDirectory,
  globalPlace,
  projectPlace,
  shownSkillsDirectory,
} from "../../../sources/skills-place.ts";
import type { InstalledSkill, InstallPlace, SourceList } from "../../wire/sources.ts";
import type { BrowseDoor } from "../browse-door.ts";

type Directories = Pick<BrowseDoor, "directory" | "home">;

export const installPlaces = ["project", "global"] as const satisfies readonly InstallPlace[];

const mostSkills = 500;
const mostChanges = 10;

export function toSkillsPlace(place: InstallPlace, { directory, home }: Directories): SkillsPlace {
  return place === "project" ? projectPlace(directory, home, process.env) : globalPlace(home, process.env);
}

export function shownDirectory(where: SkillsPlace, { home }: Directories): string {
  return homePath(shownSkillsDirectory(where), home);
}

/** What the locks of both places name, and how it is on disk. One that cannot be read does not hide the other. */
export async function listInstalled(door: Directories, signal: AbortSignal): Promise<SourceList> {
  const places: SourceList["places"][number][] = [];
  for (const place of installPlaces) {
    const where = toSkillsPlace(place, door);
    const shown = { place, directory: shownDirectory(where, door) };
    try {
      const entries = [...readLock(where).entries];
      const directory = findSkillsDirectory(where);
      const skills: InstalledSkill[] = [];
      for (const [name, entry] of entries.slice(0, mostSkills)) {
        // The files of each are read at once: between two of them others have their turn.
        await new Promise((resolve) => setImmediate(resolve));
        signal.throwIfAborted();
        skills.push(toShown(name, entry, await readState(directory, name, entry)));
      }
      places.push({ ...shown, skills, more: entries.length - skills.length });
    } catch (error) {
      if (!isSkillsError(error) || signal.aborted) throw error;
      places.push({ ...shown, fault: error.message, skills: [], more: 0 });
    }
  }
  return { places };
}

/** Undefined where its files cannot be read, with why. */
async function readState(
  skills: string | undefined,
  name: string,
  entry: LockEntry,
): Promise<InstalledState | { readonly why: string }> {
  // A link to where npm put it.
  if (entry.sourceType === "node_modules") return { why: "It is from an npm package." };
  try {
    return await stateOf(skills, name, entry);
  } catch (error) {
    if (isSkillsError(error)) return { why: error.message };
    throw error;
  }
}

function toShown(
  name: string,
  { source, sourceUrl, version, digest }: LockEntry,
  state: Awaited<ReturnType<typeof readState>>,
): InstalledSkill {
  const about = {
    name,
    source: sourceUrl ?? source,
    ...(version !== undefined && { version }),
    ...(digest !== undefined && { digest }),
  };
  if ("why" in state) return { ...about, state: "unknown", changes: [state.why] };
  switch (state.state) {
    case "missing":
      return { ...about, state: "missing" };
    case "unchanged":
      return { ...about, state: "verified" };
    case "unverifiable":
      return { ...about, state: "unknown" };
    case "changed":
      return { ...about, state: "modified", changes: differenceWords(state.difference, mostChanges) };
  }
}
