import { planInstall } from "./plan-install.ts";
import type { InstallContext, InstallPlan } from "./plan-install.ts";
import type { Downloaded, downloadAll } from "./offered-skills.ts";
import type { Reason } from "./reason-lines.ts";

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
