import type { Lock } from "../lock.ts";
import type { InstalledFiles } from "../lock/read-installed.ts";
import type { SkillsPlace } from "../skills-place.ts";
import type { RemoteIndex } from "../remote-skill.ts";
import { confirmSource } from "./named-sources.ts";
import { entryOf } from "./offered-skills.ts";
import type { Downloaded } from "./offered-skills.ts";
import { replaceSkills } from "./replace-skills.ts";

/** A downloaded skill that is to be installed. `adopt`: its files are there already, and only the lock is written. */
export interface ConfirmedInstall {
  readonly act: "install" | "replace" | "adopt";
  readonly key: string;
  readonly index: RemoteIndex;
  readonly downloaded: Downloaded;
  /** What was there when the person decided. */
  readonly seen: InstalledFiles | undefined;
}

/** Installs what was decided over this lock, from sources that a person named. Throws SKILL_NOT_READY where something else is there now than was seen. */
export async function carryOut(where: SkillsPlace, lock: Lock, decided: readonly ConfirmedInstall[]): Promise<void> {
  const now = new Date().toISOString();
  const replacements = decided.map(({ act, key, index, downloaded, seen }) => {
    const entry = entryOf(index, downloaded, { form: where.form, key, now, before: lock.entries.get(key) });
    return { key, files: act === "adopt" ? undefined : downloaded.files, entry, seen };
  });
  for (const { index } of decided) confirmSource(where, index.source);
  if (replacements.length > 0) await replaceSkills(where, lock, replacements);
}
