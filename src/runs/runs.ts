import { setMaxListeners } from "node:events";
import type { BlobStore } from "../blobs/blob-store.ts";
import type { Clock } from "../base/clock.ts";
import type { DirectoryIdentity } from "../base/directory-identity.ts";
import { isSkillsError } from "../errors.ts";
import type { Json, RunEnd, RunHost, Sandbox, SandboxRun } from "../sandbox/sandbox.ts";
import type { Skill, Snapshot } from "../skills/skill.ts";
import type { SkillSource } from "../skills/files/skill-bytes.ts";
import { openBlobBudget } from "./execute/blob-budget.ts";
import { openMask } from "./record/mask.ts";
import { openNestedRuns } from "./execute/nested-runs.ts";
import type { Nesting } from "./execute/nested-runs.ts";
import { pinGrants } from "./authorize/check-grants.ts";
import { prepareRun } from "./execute/prepare-run.ts";
import type { RunMeans } from "./execute/prepare-run.ts";
import { recordRun } from "./record/run-recorder.ts";
import type { RunPlan } from "./plan/run-plan.ts";
import { openRunQueue } from "./run-queue.ts";
import type { RunResult } from "./record/run-result.ts";
import { toRunResult } from "./record/to-run-result.ts";

/** Who asks for a run, and what of theirs it may touch. */
export interface RunCaller {
  readonly owner: string;
  readonly blobs: BlobStore;
  /** What one run may make of them. */
  readonly runBlobs: { readonly maxBytes: number; readonly maxBlobs: number };
  readonly sourceOf: (skill: Skill) => SkillSource;
  /** Whether a skill is of the person's own roots, for which alone grants count. */
  readonly isOwn: (skill: Skill) => boolean;
  /** The session's directory. */
  readonly project?: string;
  /** Which directory that was when the session was opened. Absent: whichever it is now. */
  readonly projectIdentity?: DirectoryIdentity | undefined;
  /** Where the person's own skills lie, and are looked for. No run changes what lies there. */
  readonly ownPlaces: () => readonly string[];
  /** Told of text as it is printed. Must not throw. */
  readonly onPrint?: (text: string) => void;
  /** The plan for a skill that code inside calls. Throws as execute_skill does. */
  readonly planSkill: (skill: Skill, args: Json, leftMs: number) => Promise<RunPlan>;
  /** Told of every run of a skill that code inside called, for the ledger. */
  readonly onNested?: (skill: Skill) => void;
}

/** What a run would be, without running it. */
interface CheckedRun {
  readonly isolation: string;
  readonly run: SandboxRun;
}

/** Carries runs out (CONTRACT C-5). */
export interface Runs {
  /** Tells what skills there are, so that what they ask for now is what was granted to them. */
  notice(snapshot: Snapshot): void;
  /** Everything that is checked before a run starts. Throws PERMISSION_DENIED, SECRET_MISSING, SKILL_NOT_READY or SANDBOX_UNAVAILABLE. */
  check(plan: RunPlan, caller: RunCaller): Promise<CheckedRun>;
  /**
   * Checks and runs. Once user code was started, the outcome is a result, whatever happens; before, it throws as `check` does, or
   * RUNTIME_BUSY. Rejects with the reason of `signal`.
   */
  run(plan: RunPlan, caller: RunCaller, signal: AbortSignal): Promise<RunResult>;
}

export interface RunsOptions extends RunMeans {
  readonly clock: Clock;
  /** Runs at one time. */
  readonly concurrency: number;
  readonly maxWaiting: number;
  readonly newRunId: () => string;
}

/** A run that is over, with what was recorded of it. */
export interface EndedRun {
  readonly runId: string;
  readonly end: RunEnd;
  readonly result: RunResult;
  /** All that it made, also where the result does not name them all. */
  readonly blobs: readonly string[];
}

export function openRuns(options: RunsOptions): Runs {
  const { clock, concurrency, maxWaiting, newRunId } = options;
  const queue = openRunQueue({ concurrency, maxWaiting });

  async function runPrepared(
    { sandbox, run }: { readonly sandbox: Sandbox; readonly run: SandboxRun },
    { plan, caller }: { readonly plan: RunPlan; readonly caller: RunCaller },
    { nested, hidden, budget }: Nesting,
    signal: AbortSignal,
  ): Promise<EndedRun> {
    const own = openMask(run.secrets);
    const mask = hidden.length === 0 ? own : openMask(run.secrets, hidden);
    const known = [...hidden, ...Object.values(run.secrets)];
    const callSkill: RunHost["callSkill"] = (name, args, over) => nested.call(name, args, over, known);
    const record = recordRun({ plan, caller, mask, callSkill, budget });
    const release = await holdAll(caller, plan);
    const start = clock.now();
    try {
      const end = await sandbox.run(run, record.host, signal);
      // Whoever asked has gone: there is nobody to be told.
      if (end.type === "cancelled") signal.throwIfAborted();
      const durationMs = Math.max(0, Math.round(clock.now() - start));
      const nestedBlobs = nested.blobs();
      const facts = { run, plan, caller, mask, nestedBlobs, durationMs, isolation: sandbox.tier };
      // The secrets of the runs around it are theirs to get back.
      return { runId: run.runId, end: await own.end(end), ...(await toRunResult(end, record, facts)) };
    } finally {
      await release();
    }
  }

  /** The whole of one run, at one depth of nesting. */
  async function runPlan(plan: RunPlan, caller: RunCaller, signal: AbortSignal, nesting: Nesting): Promise<EndedRun> {
    const prepared = await prepareRun(plan, caller, options, newRunId());
    return await runPrepared(prepared, { plan, caller }, nesting, signal);
  }

  return {
    notice: (snapshot) => pinGrants(options.grants, snapshot),
    async check(plan, caller) {
      const { sandbox, run } = await prepareRun(plan, caller, options, newRunId());
      return { isolation: sandbox.tier, run };
    },
    async run(plan, caller, signal) {
      // One signal may be that of a whole turn; from the eleventh run on, Node would warn of a leak.
      setMaxListeners(0, signal);
      // Before the wait as well: a refusal should not have to queue.
      const prepared = await prepareRun(plan, caller, options, newRunId());
      const leave = await queue.enter(caller.owner, signal);
      try {
        const budget = openBlobBudget(caller.runBlobs);
        const nested = openNestedRuns({ plan, caller, clock, budget, run: runPlan });
        return (await runPrepared(prepared, { plan, caller }, { nested, hidden: [], budget }, signal)).result;
      } finally {
        leave();
      }
    },
  };
}

/**
 * No sweep removes a blob that a run has mounted. Where one cannot be held, none is; where the disk takes no note of it, the run goes on
 * all the same: what it is given is read before it starts.
 */
async function holdAll({ blobs, owner }: RunCaller, plan: RunPlan): Promise<() => Promise<void>> {
  const holds = await Promise.allSettled(plan.blobs.map(({ id }) => blobs.hold(owner, id)));
  const release = async (): Promise<void> => {
    // A hold that cannot be ended ends with this process; the run is over, and has a result.
    await Promise.allSettled(holds.map(async (hold) => hold.status === "fulfilled" && (await hold.value())));
  };
  const refused = holds.find((hold) => hold.status === "rejected" && !isDiskRefusal(hold.reason));
  if (refused?.status !== "rejected") return release;
  await release();
  throw refused.reason;
}

function isDiskRefusal(error: unknown): boolean {
  return isSkillsError(error) && error.facts.limit === "disk";
}
