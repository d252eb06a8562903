import { createHash, randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../../base/clock.ts";
import { SkillsError } from "../../../base/errors.ts";
import { type Lock, directoryName } from "../../../sources/lock.ts";
import { type InstalledFiles, readInstalled, readLock, toLockText } from "../../../sources/lock-file.ts";
import { findSkillsDirectory } from "../../../sources/install-scope.ts";
import type { MadePlan } from "./make-plan.ts";
import type { SkillFile } from "../../../sources/reader.ts";

type NewPlan = Pick<MadePlan, "where" | "lock" | "decided">;

export interface PendingPlan extends NewPlan {
  readonly id: string;
  /** The digest of the lock, of the files that the plan installs, and of the files that it replaces. */
  readonly digest: string;
}

const maxPlans = 4;
const validMs = 10 * 60_000;
/** The maximum number of bytes of all plans: the downloaded files and the files that they replace. */
const maxBytes = 256 * 1024 * 1024;

/** Plans that the user may still decide about: at most 4, for ten minutes each. The oldest is dropped first. */
export class PendingPlans {
  readonly #clock: Clock;
  readonly #plans = new Map<
    string,
    { readonly plan: PendingPlan; readonly bytes: number; readonly stop: () => void }
  >();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find(id: string): PendingPlan | undefined {
    return this.#plans.get(id)?.plan;
  }

  /** Drops a plan; false if it was dropped before. */
  drop(id: string): boolean {
    this.#plans.get(id)?.stop();
    return this.#plans.delete(id);
  }

  /** Adds a plan. Rejects with QUOTA_EXCEEDED for one of over 256 MiB. */
  async add({ where, lock, decided }: NewPlan): Promise<PendingPlan> {
    const bytes = bytesOf(decided);
    if (bytes > maxBytes) throw new SkillsError("QUOTA_EXCEEDED", "This is more than 256 MiB; choose fewer skills.");
    const id = randomUUID();
    const seen = decided.map((one) => one.seen);
    const plan: PendingPlan = { id, where, lock, decided, digest: await digestOf(decided, lock, seen) };
    this.#plans.set(id, { plan, bytes, stop: this.#clock.after(validMs, () => void this.#plans.delete(id)) });
    let held = [...this.#plans.values()].reduce((sum, one) => sum + one.bytes, 0);
    for (const [oldest, one] of this.#plans) {
      if (this.#plans.size <= maxPlans && held <= maxBytes) break;
      held -= one.bytes;
      this.drop(oldest);
    }
    return plan;
  }
}

/** The digest that the plan would have if it were made over the files and lock of now. */
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
