import { type Downloaded, type Reason, type downloadAll, entryOf, renameWords } from "./install/offered-skills.ts";
import { type Lock, type LockEntry, directoryName, hasSameFiles } from "./lock.ts";
import { type InstalledFiles, readInstalled } from "./lock/read-installed.ts";
import type { SkillsPlace } from "./skills-place.ts";
import { confirmSource, lockedSource } from "./lock/locked-source.ts";
import { replaceSkills } from "./install/replace-skills.ts";
import type { RemoteIndex } from "./reader.ts";
import { readdirSync } from "node:fs";
import { remotePathFault } from "./archive/check-path.ts";
import { lossWords, stateOf } from "./installed.ts";

export { recoverSkillsDirectory, removeSkills } from "./install/replace-skills.ts";
export {
  type Downloaded,
  type InspectedSkill,
  chooseSkills,
  downloadAll,
  readNow,
  reasonLines,
  renameWords,
  wantedWords,
} from "./install/offered-skills.ts";

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
 * Throws SKILL_NOT_READY where something else is there now than was seen. Returns their entries.
 */
export async function carryOut(
  where: SkillsPlace,
  lock: Lock,
  decided: readonly ConfirmedInstall[],
  how?: "as locked",
): Promise<readonly LockEntry[]> {
  const now = new Date().toISOString();
  const replacements = decided.map(({ act, key, index, downloaded, seen }) => {
    const locked = how === "as locked" ? lock.entries.get(key) : undefined;
    const entry = locked ?? entryOf(index, downloaded, { form: where.form, key, now, before: lock.entries.get(key) });
    return { key, files: act === "adopt" ? undefined : downloaded.files, entry, seen };
  });
  if (how === undefined) for (const { index } of decided) confirmSource(where, index.source);
  if (replacements.length > 0) await replaceSkills(where, lock, replacements);
  return replacements.map(({ entry }) => entry);
}

/** What installing a downloaded skill means here. */
export type InstallPlan =
  | {
      readonly act: "install" | "replace" | "adopt" | "nothing";
      readonly what: string;
      readonly seen: InstalledFiles | undefined;
    }
  | { readonly act: "refuse"; readonly what: string };

export interface InstallContext {
  readonly index: RemoteIndex;
  readonly lock: Lock;
  /** The real path of the directory of skills; undefined if it is missing. */
  readonly skills: string | undefined;
  /** Whether a skill that was changed here is replaced. */
  readonly discardsChanges: boolean;
  /** Whether a skill that is not in the lock, or from another source, is replaced. */
  readonly replacesOthers: boolean;
  /** Whether a person sees what would be installed, and decides. */
  readonly isAsked: boolean;
}

/** Decides it; changes nothing. */
async function planInstall(
  downloaded: Downloaded,
  { index, lock, skills, discardsChanges, replacesOthers, isAsked }: InstallContext,
): Promise<InstallPlan> {
  const { inspected, files, remote } = downloaded;
  const { key } = inspected;
  const rival = rivalOf(key, lock, skills);
  if (rival !== undefined) return refuse(rival);
  const entry = lock.entries.get(key);
  const installed = skills === undefined ? undefined : readInstalled(skills, key);
  const isSame = installed !== undefined && sameFiles(installed, files);
  const renamed = isSame || isAsked ? undefined : renameWords(inspected);
  if (renamed !== undefined) return refuse(`${renamed}; --yes does not answer for that, so add it without`);
  if (entry === undefined) {
    if (installed === undefined) return { act: "install", what: "new", seen: undefined };
    if (isSame) return { act: "adopt", what: "already there, not in the lock", seen: installed };
    if (replacesOthers) return { act: "replace", what: "replaces a skill that is not in the lock", seen: installed };
    return refuse("it exists here and is not in the lock; --replace replaces it");
  }
  const from = lockedSource(index, remote, files, lock.form);
  const isFromHere = entry.source === from.source && isSameUrl(entry, from);
  if (!isFromHere && !replacesOthers)
    return refuse(`it is installed from ${entry.sourceUrl ?? entry.source}; --replace replaces it`);
  if (isSame)
    return entry.digest === inspected.digest && isFromHere
      ? { act: "nothing", what: "already installed", seen: installed }
      : { act: "adopt", what: "already installed; the lock is brought up to date", seen: installed };
  const state = await stateOf(skills, key, entry);
  if (state.state === "missing") return { act: "install", what: "in the lock, missing here", seen: undefined };
  const loss = discardsChanges ? undefined : lossWords(state, "replaces");
  if (loss !== undefined) return refuse(loss);
  return { act: "replace", what: `replaces ${entry.version ?? "the installed version"}`, seen: state.installed };
}

/** An old version of the skills package wrote no URL. */
function isSameUrl(entry: LockEntry, from: LockEntry): boolean {
  const url = from.sourceBaseUrl === undefined ? entry.sourceUrl : entry.sourceBaseUrl;
  return url === undefined || url === (from.sourceBaseUrl ?? from.sourceUrl);
}

/** The same paths and bytes; links and others that we never install make a difference. */
export function sameFiles({ files, others }: InstalledFiles, downloaded: Downloaded["files"]): boolean {
  return others.length === 0 && hasSameFiles(files, downloaded);
}

/** Why a skill cannot have its directory: no system may give that name to one, another has it, or one whose name differs by case only, which is the same on some file systems. */
function rivalOf(slug: string, { entries }: Lock, skills: string | undefined): string | undefined {
  const fault = remotePathFault(slug);
  if (fault !== undefined) return `the path ${slug} ${fault}; rename the skill where it is published`;
  const key = [...entries.keys()].find((other) => other !== slug && directoryName(other) === slug);
  if (key !== undefined) return `${JSON.stringify(key)} of the lock is in the same directory; remove it first`;
  const name =
    skills === undefined
      ? undefined
      : readdirSync(skills).find((other) => other !== slug && other.toLowerCase() === slug);
  return name === undefined ? undefined : `${name} exists, which differs by case only; rename or remove it first`;
}

function refuse(what: string): InstallPlan {
  return { act: "refuse", what };
}
