import { planInstall } from "./plan-install.ts";
import type { Installing, InstallPlan } from "./plan-install.ts";
import type { Downloaded, downloadAll } from "./offered-skills.ts";

export interface PlannedInstall {
  readonly downloaded: Downloaded;
  readonly plan: InstallPlan;
}

export interface PlannedInstalls {
  readonly plans: readonly PlannedInstall[];
  /** Of those that could not be downloaded, too. `name` as the source has it. */
  readonly refusals: readonly { readonly name: string; readonly why: string }[];
}

/** Decides what installing each of them means here; changes nothing. */
export async function planInstalls(
  found: Awaited<ReturnType<typeof downloadAll>>,
  installing: Installing,
): Promise<PlannedInstalls> {
  const refusals: PlannedInstalls["refusals"][number][] = [];
  const plans: PlannedInstall[] = [];
  for (const one of found) {
    if ("why" in one) {
      refusals.push({ name: one.remote.name, why: one.why });
      continue;
    }
    const { slug } = one.inspected;
    const rival = plans.find(({ downloaded }) => downloaded.inspected.slug === slug);
    const plan: InstallPlan =
      rival === undefined
        ? await planInstall(one, installing)
        : { act: "refuse", what: `${rival.downloaded.remote.name} of the same source has the same name, ${slug}` };
    plans.push({ downloaded: one, plan });
    if (plan.act === "refuse") refusals.push({ name: one.remote.name, why: plan.what });
  }
  return { plans, refusals };
}
