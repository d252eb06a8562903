import path from "node:path";
import { stateOf } from "../../../sources/installed.ts";
import { isSkillsError } from "../../../base/errors.ts";
import { readLock } from "../../../sources/lock-file.ts";
import { findSkillsDirectory } from "../../../sources/skills-place.ts";
import type { SkillDetail } from "../../wire/skills.ts";
import type { BrowseDoor } from "../browse-door.ts";
import { installPlaces, toSkillsPlace } from "../sources/places.ts";

/** Where the skill in a directory was installed from, by the lock; undefined if no lock names it, or can be read. */
export async function findInstallation(
  directory: string,
  door: Pick<BrowseDoor, "directory" | "home">,
): Promise<SkillDetail["installed"]> {
  for (const place of installPlaces) {
    const where = toSkillsPlace(place, door);
    try {
      const skills = findSkillsDirectory(where);
      if (skills === undefined || path.dirname(directory) !== skills) continue;
      const name = path.basename(directory);
      const entry = readLock(where).entries.get(name);
      if (entry === undefined) continue;
      const { state } = await stateOf(skills, name, entry);
      return { source: entry.sourceUrl ?? entry.source, isModified: state === "changed" };
    } catch (error) {
      if (!isSkillsError(error)) throw error; // The view of sources says what is wrong with the lock.
    }
  }
  return undefined;
}
