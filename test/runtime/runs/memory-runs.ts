import { type MemoryScript, memorySandbox } from "../sandbox/memory-sandbox.ts";
import type { Sandbox } from "../../../src/runtime/sandbox.ts";
import { Runs, type RunsOptions } from "../../../src/runtime/runs.ts";
import { memoryRunStore } from "./memory-run-store.ts";
import type { Policy } from "../../../src/runtime/trust/policy.ts";
import { openTrust } from "../trust/open-trust.ts";
import { type ManualClock, manualClock } from "../../manual-clock.ts";

export interface MemoryRunsOptions extends Partial<Omit<RunsOptions, "sandbox" | "clock">> {
  readonly grants?: readonly string[];
  readonly policy?: Partial<Policy>;
  readonly refuses?: (run: unknown) => string | undefined;
  readonly lacks?: Sandbox["lacks"];
  readonly remedy?: string;
  readonly unavailable?: Error;
}

/** Runs that isolate nothing; what a program does, the script says. */
export function openMemoryRuns(
  script: MemoryScript,
  { grants = [], policy = {}, refuses, lacks = {}, remedy, unavailable, ...options }: MemoryRunsOptions = {},
): { readonly runs: Runs; readonly clock: ManualClock } {
  const clock = manualClock();
  const sandbox = memorySandbox(script, {
    clock,
    lacks,
    ...(refuses && { refuses }),
    ...(remedy !== undefined && { remedy }),
  });
  let count = 0;
  const runs = new Runs({
    sandbox: () => (unavailable ? Promise.reject(unavailable) : Promise.resolve(sandbox)),
    withoutSandbox: () => Promise.resolve(memorySandbox(script, { clock, tier: "none" })),
    ...openTrust({ grants, policy }),
    records: memoryRunStore(),
    recordStart: () => Promise.resolve(undefined),
    recordSent: () => undefined,
    openRequests: () => Promise.reject(new Error("No secret is sent in this test.")),
    now: () => clock.now(),
    readSecret: () => Promise.resolve(undefined),
    refuseProject: () => undefined,
    findPackages: () => Promise.resolve(undefined),
    invoke: () => Promise.reject(new Error("Nothing is invoked in this test.")),
    clock,
    concurrency: 4,
    maxWaiting: 8,
    newRunId: () => `run_${String(++count).padStart(10, "0")}`,
    ...options,
  });
  return { runs, clock };
}
