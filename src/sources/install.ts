import { type InstallContext, type InstallPlan, planInstall } from "./install/plan-install.ts";
import { type Downloaded, type Reason, type downloadAll, entryOf } from "./install/offered-skills.ts";
import type { Lock } from "./lock.ts";
import type { InstalledFiles } from "./lock/read-installed.ts";
import type { SkillsPlace } from "./skills-place.ts";
import { confirmSource } from "./lock/locked-source.ts";
import { replaceSkills } from "./install/replace-skills.ts";
import type { RemoteIndex } from "./reader.ts";

export { recoverSkillsDirectory, removeSkills } from "./install/replace-skills.ts";
export { readNow, type Downloaded, chooseSkills, downloadAll, reasonLines } from "./install/offered-skills.ts";
export { type InspectedSkill, renameWords, wantedWords } from "./install/inspect-skill.ts";
export type { InstallPlan } from "./install/plan-install.ts";

export interface PlannedInstall {
  readonly downloaded: Downloaded;
  readonly plan: InstallPlan;
}

export interface PlannedInstalls {
  readonly plans: readonly PlannedInstall[];
  /** Of those that could not be downloaded, too. */
  readonly refusals: readonly Reason[];
}

/** Decides what installing each of them means here; changes nothing. */
export async function planInstalls(
  found: Awaited<ReturnType<typeof downloadAll>>,
  installing: InstallContext,
): Promise<PlannedInstalls> {
  const refusals: Reason[] = [];
  const plans: PlannedInstall[] = [];
  for (const one of found) {
    const { name } = one.remote;
    if ("why" in one) {
      refusals.push({ name, why: one.why });
      continue;
    }
    const plan = await planInstall(one, installing);
    plans.push({ downloaded: one, plan });
    if (plan.act === "refuse") refusals.push({ name, why: plan.what });
  }
  return { plans, refusals };
}

/** A downloaded skill that is to be installed. `adopt`: its files are there already, and only the lock is written. */
export interface ConfirmedInstall {
  readonly act: "install" | "replace" | "adopt";
  readonly key: string;
  readonly index: RemoteIndex;
  readonly downloaded: Downloaded;
  /** What was there when the person decided. */
  readonly seen: InstalledFiles | undefined;
}

/**
 * Installs what was decided over this lock, from sources that a person named; `as locked`: the lock stays as it is, and nobody named them.
 * Throws SKILL_NOT_READY where something else is there now than was seen.
 */
export async function carryOut(
  where: SkillsPlace,
  lock: Lock,
  decided: readonly ConfirmedInstall[],
  how?: "as locked",
): Promise<void> {
  const now = new Date().toISOString();
  const replacements = decided.map(({ act, key, index, downloaded, seen }) => {
    const locked = how === "as locked" ? lock.entries.get(key) : undefined;
    const entry = locked ?? entryOf(index, downloaded, { form: where.form, key, now, before: lock.entries.get(key) });
    return { key, files: act === "adopt" ? undefined : downloaded.files, entry, seen };
  });
  if (how === undefined) for (const { index } of decided) confirmSource(where, index.source);
  if (replacements.length > 0) await replaceSkills(where, lock, replacements);
}
