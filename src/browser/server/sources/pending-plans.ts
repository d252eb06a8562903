import { createHash, randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../../base/clock.ts";
import { SkillsError } from "../../../base/errors.ts";
import { type Lock, directoryName } from "../../../sources/lock.ts";
import { type InstalledFiles, readInstalled, readLock, toLockText } from "../../../sources/lock-file.ts";
import { findSkillsDirectory } from "../../../sources/skills-place.ts";
import type { MadePlan } from "./make-plan.ts";
import type { SkillFile } from "../../../sources/reader.ts";

type NewPlan = Pick<MadePlan, "where" | "lock" | "decided">;

export interface PendingPlan extends NewPlan {
  readonly id: string;
  /** The digest of what is installed by it, and of what it replaces. */
  readonly digest: string;
}

/** Plans that a person may still decide about: a few, for ten minutes, the oldest dropped first. */
export interface PendingPlans {
  /** Throws QUOTA_EXCEEDED for one that is too large. */
  readonly add: (plan: NewPlan) => Promise<PendingPlan>;
  readonly find: (id: string) => PendingPlan | undefined;
  /** False if it was dropped before. */
  readonly drop: (id: string) => boolean;
}

const mostPlans = 4;
const validMs = 10 * 60_000;
/** The bytes of what is downloaded and what it replaces, in all plans. */
const mostBytes = 256 * 1024 * 1024;

export function createPendingPlans(clock: Clock): PendingPlans {
  const plans = new Map<string, { readonly plan: PendingPlan; readonly bytes: number; readonly stop: () => void }>();

  function drop(id: string): boolean {
    plans.get(id)?.stop();
    return plans.delete(id);
  }
  const isFull = (): boolean =>
    plans.size > mostPlans || [...plans.values()].reduce((sum, { bytes }) => sum + bytes, 0) > mostBytes;

  return {
    drop,
    find: (id) => plans.get(id)?.plan,
    async add({ where, lock, decided }) {
      const bytes = bytesOf(decided);
      if (bytes > mostBytes) throw new SkillsError("QUOTA_EXCEEDED", "This is more than 256 MiB; choose fewer skills.");
      const id = randomUUID();
      const seen = decided.map((one) => one.seen);
      const plan: PendingPlan = { id, where, lock, decided, digest: await digestOf(decided, lock, seen) };
      plans.set(id, { plan, bytes, stop: clock.after(validMs, () => void plans.delete(id)) });
      for (const oldest of plans.keys()) {
        if (!isFull()) break;
        drop(oldest);
      }
      return plan;
    },
  };
}

/** The digest that the plan would have, had it been made over what is there now. */
export async function digestNow({ where, decided }: Pick<PendingPlan, "where" | "decided">): Promise<string> {
  const skills = findSkillsDirectory(where);
  const seen: (InstalledFiles | undefined)[] = [];
  for (const { key } of decided) {
    await setImmediate();
    seen.push(skills === undefined ? undefined : readInstalled(skills, directoryName(key)));
  }
  return await digestOf(decided, readLock(where), seen);
}

async function digestOf(
  decided: NewPlan["decided"],
  lock: Lock,
  seen: readonly (InstalledFiles | undefined)[],
): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify([lock.form, toLockText(lock)]));
  for (const [at, { act, key, downloaded }] of decided.entries()) {
    await setImmediate();
    const { files, others } = seen[at] ?? {};
    hash.update(JSON.stringify([act, key, toFacts(downloaded.files), files && toFacts(files), others]));
  }
  return `sha256:${hash.digest("hex")}`;
}

function toFacts(files: readonly SkillFile[]): readonly string[] {
  return files
    .map(({ path, bytes }) => JSON.stringify([path, createHash("sha256").update(bytes).digest("hex")]))
    .sort();
}

function bytesOf(decided: PendingPlan["decided"]): number {
  const sum = (files: readonly SkillFile[]): number => files.reduce((all, { bytes }) => all + bytes.length, 0);
  return decided.reduce((all, { downloaded, seen }) => all + sum(downloaded.files) + sum(seen?.files ?? []), 0);
}
