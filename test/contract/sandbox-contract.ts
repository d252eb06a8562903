import { describeAttacks } from "./sandbox/attack.ts";
import { describeBlobs } from "./sandbox/blobs.ts";
import { bombs } from "./sandbox/bombs.ts";
import { describeBrokered } from "./sandbox/brokered.ts";
import { describeEgress } from "./sandbox/egress.ts";
import { describeEnds } from "./sandbox/ends.ts";
import { filesystemAttacks } from "./sandbox/filesystem-attacks.ts";
import { describeForging } from "./sandbox/forging.ts";
import { describeGuardedProject } from "./sandbox/guarded-project.ts";
import { describeSwappedProject } from "./sandbox/swapped-project.ts";
import { describeInside } from "./sandbox/inside.ts";
import { kernelAttacks } from "./sandbox/kernel-attacks.ts";
import { describeAfterwards, describeLeftovers } from "./sandbox/leftovers.ts";
import { describeNames } from "./sandbox/names.ts";
import { networkAttacks } from "./sandbox/network-attacks.ts";
import { outputAttacks } from "./sandbox/output-attacks.ts";
import { describePoisoning } from "./sandbox/poisoning.ts";
import { describeClosing, describePort } from "./sandbox/port.ts";
import { processAttacks } from "./sandbox/process-attacks.ts";
import { describeResults } from "./sandbox/results.ts";
import { rightsAttacks } from "./sandbox/rights-attacks.ts";
import { describeScripts } from "./sandbox/scripts.ts";
import { describeSecretUses } from "./sandbox/secret-uses.ts";
import { describeSecrets } from "./sandbox/secrets.ts";
import { type Tier, describeTier } from "./sandbox/tier.ts";

/** The contract of `Sandbox`, run by every tier: what it guarantees to callers, and against the code it runs. */
export function describeSandbox(name: string, tier: Tier): void {
  describeTier(`${name} implements the Sandbox contract`, tier, (trial) => {
    describePort(trial);
    describeResults(trial);
    describeInside(trial);
    describeGuardedProject(trial);
    describeSwappedProject(trial);
    describeBlobs(trial);
    describeBrokered(trial);
    describeScripts(trial);
    describeSecrets(trial);
    describeSecretUses(trial);
    describeNames(trial);
    describeForging(trial);
    describePoisoning(trial);
    describeAttacks(trial, "files", filesystemAttacks);
    describeAttacks(trial, "rights", rightsAttacks);
    describeAttacks(trial, "outputs", outputAttacks);
    describeAttacks(trial, "processes", processAttacks);
    describeAttacks(trial, "the network", networkAttacks);
    describeAttacks(trial, "the kernel", kernelAttacks);
    describeEgress(trial);
    describeAttacks(trial, "what is finite", bombs, { oneByOne: true });
    describeEnds(trial);
    describeLeftovers(trial);
    describeClosing(trial);
    describeAfterwards(trial);
  });
}

/** The part of the contract that holds without isolation. */
export function describeUnconfined(name: string, tier: Tier): void {
  describeTier(`${name} implements the Sandbox contract except isolation`, tier, (trial) => {
    describePort(trial);
    describeResults(trial);
    describeBlobs(trial);
    describeBrokered(trial);
    describeSecrets(trial);
    describeSecretUses(trial);
    describeNames(trial);
    describeForging(trial);
    describeEnds(trial);
    describeLeftovers(trial);
    describeClosing(trial);
    describeAfterwards(trial);
  });
}

/** The part of the contract that runs no real program, for tiers that simulate programs. */
export function describeSandboxPort(name: string, tier: Tier): void {
  describeTier(`${name} implements the Sandbox contract`, tier, (trial) => {
    describePort(trial);
    describeClosing(trial);
    describeAfterwards(trial);
  });
}
