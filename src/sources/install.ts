import { readdirSync } from "node:fs";
import {
  type Lock,
  type LockEntry,
  type LockForm,
  computedHash,
  directoryName,
  fileDigests,
  hasSameFiles,
  shownSource,
} from "./lock.ts";
import { type InstalledFiles, readInstalled } from "./lock/read-installed.ts";
import type { InstallScope } from "./install-scope.ts";
import { confirmSource, lockedSource } from "./lock/locked-source.ts";
import { renameWords } from "./install/skill-words.ts";
import { replaceSkills } from "./install/replace-skills.ts";
import type { RemoteIndex, SourceReader } from "./reader.ts";
import { remotePathFault } from "./archive/check-path.ts";
import { lossWords, stateOf } from "./installed.ts";
import { shortList } from "../base/text/code-points.ts";
import type { Source } from "./source.ts";

import {
  type Downloaded,
  type SignerTerms,
  type downloadAll,
  isPinnedSigner,
  signerRefusal,
} from "./install/download-skills.ts";

export { renameWords, wantedWords } from "./install/skill-words.ts";
export {
  type Downloaded,
  type Downloading,
  type SignerTerms,
  chooseSkills,
  download,
  downloadAll,
  signerRefusal,
} from "./install/download-skills.ts";
export { recoverSkillsDirectory, removeSkills } from "./install/replace-skills.ts";

function entryOf(
  index: RemoteIndex,
  { remote, files, inspected, signature }: Downloaded,
  {
    form,
    key,
    now,
    before,
  }: { readonly form: LockForm; readonly key: string; readonly now: string; readonly before: LockEntry | undefined },
): LockEntry {
  const hash = computedHash(files);
  const digests = fileDigests(files);
  const from = lockedSource(index, remote, files, form);
  return {
    ...from,
    ...(form === "project"
      ? { computedHash: hash }
      : {
          // The skills package leaves the hash of a well-known source empty.
          skillFolderHash: from.sourceType === "well-known" ? "" : hash,
          installedAt: before?.installedAt ?? now,
          updatedAt: now,
        }),
    version: inspected.version,
    digest: inspected.digest,
    ...(remote.name !== key && { name: remote.name }),
    ...(signature.state === "signed" && { signer: signature.signer }),
    ...(digests !== undefined && { files: digests }),
  };
}

/** Reads the current index of a source, whether it changed or not. */
export async function readNow(reader: SourceReader, source: Source, signal: AbortSignal): Promise<RemoteIndex> {
  const index = await reader.read(source, undefined, signal);
  if (index === undefined) throw new TypeError("not asked whether it changed");
  return index;
}

/** The reason why something was not done with a skill. */
export interface Reason {
  readonly name: string;
  readonly why: string;
}

const maxNamed = 5;

/** Lists each reason once, with all of its skills: `a, b and 3 more: why`. */
export function reasonLines(reasons: readonly Reason[], between = ""): readonly string[] {
  const names = new Map<string, string[]>();
  for (const { name, why } of reasons) names.set(why, [...(names.get(why) ?? []), name]);
  return [...names].map(([why, all]) => `${shortList(all, maxNamed)}${between}: ${why}`);
}

export interface PlannedInstall {
  readonly downloaded: Downloaded;
  readonly plan: InstallPlan;
}

export interface PlannedInstalls {
  readonly plans: readonly PlannedInstall[];
  /** The refusals, including those of skills that could not be downloaded. */
  readonly refusals: readonly Reason[];
}

/** Plans the installation of each downloaded skill. Changes nothing. */
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

/** A downloaded skill that is to be installed. `adopt`: its files are installed already, and only the lock is written. */
export interface ConfirmedInstall {
  readonly act: "install" | "replace" | "adopt";
  readonly key: string;
  readonly index: RemoteIndex;
  readonly downloaded: Downloaded;
  /** The installed files when the user decided; undefined if there were none. */
  readonly seen: InstalledFiles | undefined;
}

/**
 * Installs the decided skills over this lock, from sources that the user named. `as locked`: the lock stays as it is, and the sources do
 * not count as named. Throws SKILL_NOT_READY if the installed files changed since they were seen. Returns the lock entries.
 */
export async function carryOut(
  where: InstallScope,
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

/** The effect of installing a downloaded skill in a scope. */
export type InstallPlan =
  | {
      readonly act: "install" | "replace" | "adopt" | "nothing";
      readonly what: string;
      readonly seen: InstalledFiles | undefined;
    }
  | { readonly act: "refuse"; readonly what: string };

export interface InstallContext extends SignerTerms {
  readonly index: RemoteIndex;
  readonly lock: Lock;
  /** The real path of the skills directory; undefined if it is missing. */
  readonly skills: string | undefined;
  /** Whether a skill with local changes is replaced. */
  readonly discardsChanges: boolean;
  /** Whether a skill that is not in the lock, or from another source, is replaced. */
  readonly replacesOthers: boolean;
}

/** Plans the installation of one downloaded skill. Changes nothing. */
async function planInstall(
  downloaded: Downloaded,
  { index, lock, skills, discardsChanges, replacesOthers, isAsked, allowsSignerChange }: InstallContext,
): Promise<InstallPlan> {
  const { inspected, files, remote, signature } = downloaded;
  const { key } = inspected;
  const conflicting = conflictingWith(key, lock, skills);
  if (conflicting !== undefined) return refuse(conflicting);
  const entry = lock.entries.get(key);
  const installed = skills === undefined ? undefined : readInstalled(skills, key);
  const isSame = installed !== undefined && sameFiles(installed, files);
  const renamed = isSame || isAsked ? undefined : renameWords(inspected);
  if (renamed !== undefined) return refuse(`${renamed}; --yes does not answer for that, so add it without`);
  const signer = signerRefusal(entry, signature, { isAsked, allowsSignerChange });
  if (signer !== undefined) return refuse(signer);
  if (entry === undefined) {
    if (installed === undefined) return { act: "install", what: "new", seen: undefined };
    if (isSame) return { act: "adopt", what: "already there, not in the lock", seen: installed };
    if (replacesOthers) return { act: "replace", what: "replaces a skill that is not in the lock", seen: installed };
    return refuse("it exists here and is not in the lock; --replace replaces it");
  }
  const from = lockedSource(index, remote, files, lock.form);
  // For a source with a scheme of its own, another version counts as the same source.
  const isSameOrigin = from.pin === undefined ? entry.source === from.source : entry.sourceType === from.sourceType;
  const isFromHere = isSameOrigin && isSameUrl(entry, from);
  if (!isFromHere && !replacesOthers)
    return refuse(`it is installed from ${shownSource(entry)}; --replace replaces it`);
  if (isSame)
    return entry.digest === inspected.digest && isFromHere && isPinnedSigner(entry, signature)
      ? { act: "nothing", what: "already installed", seen: installed }
      : { act: "adopt", what: "already installed; the lock is brought up to date", seen: installed };
  const state = await stateOf(skills, key, entry);
  if (state.state === "missing") return { act: "install", what: "in the lock, missing here", seen: undefined };
  const loss = discardsChanges ? undefined : lossWords(state, "replaces");
  if (loss !== undefined) return refuse(loss);
  return { act: "replace", what: `replaces ${entry.version ?? "the installed version"}`, seen: state.installed };
}

/** Whether an entry has this URL. An old version of the skills package wrote no URL, which counts as the same. */
function isSameUrl(entry: LockEntry, from: LockEntry): boolean {
  const url = from.sourceBaseUrl === undefined ? entry.sourceUrl : entry.sourceBaseUrl;
  return url === undefined || url === (from.sourceBaseUrl ?? from.sourceUrl);
}

/** Whether paths and bytes are the same. Links and other entries that acp-skills never installs make a difference. */
export function sameFiles({ files, others }: InstalledFiles, downloaded: Downloaded["files"]): boolean {
  return others.length === 0 && hasSameFiles(files, downloaded);
}

/** Why a skill cannot use its directory: its name is unusable on some system, or taken, perhaps by one that differs by case only. */
function conflictingWith(slug: string, { entries }: Lock, skills: string | undefined): string | undefined {
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
