import { setMaxListeners } from "node:events";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { isSkillsError, SkillsError } from "../errors.ts";
import type { RunEnd } from "../sandbox/sandbox.ts";
import type { Snapshot } from "../skills/skill.ts";
import type { Grants } from "../trust/grants.ts";
import { authorize, pinsGrants } from "./authorize/authorize.ts";
import type { Authorization } from "./authorize/authorize.ts";
import { createNestedRuns } from "./execute/nested-runs.ts";
import type { NestedCall, Nesting } from "./execute/nested-runs.ts";
import { prepareRun } from "./execute/prepare-run.ts";
import type { PreparedRun, RunMeans } from "./execute/prepare-run.ts";
import { planCodeRun } from "./plan/plan-run.ts";
import type { CodeRunRequest } from "./plan/plan-run.ts";
import { planSkillRun } from "./plan/plan-skill-run.ts";
import type { SkillRunRequest } from "./plan/plan-skill-run.ts";
import type { Arguments } from "./plan/run-arguments.ts";
import { createBlobBudget } from "./record/blob-budget.ts";
import { createHistory } from "./record/history.ts";
import { createMask } from "./record/mask.ts";
import { recordRun } from "./record/run-recorder.ts";
import type { RunResult } from "./record/run-result.ts";
import { toRunResult } from "./record/to-run-result.ts";
import type { RunCaller } from "./run-caller.ts";
import type { RunStep } from "./run-event.ts";
import { createRunQueue } from "./run-queue.ts";
import type { RunSpec } from "./run-spec.ts";
import type { RunStore } from "./store/run-store.ts";

type RunRequest = ({ readonly type: "skill" } & SkillRunRequest) | ({ readonly type: "code" } & CodeRunRequest);

/** What a run would do, as JSON for people. */
interface CheckedRun {
  readonly authorization: Authorization;
  readonly isolation: string;
  readonly spec: RunSpec;
}

/** Runs as data (CONTRACT C-5): request → plan → authorize → queue → execute → record. */
export interface Runs {
  /** Tells which skills there are now: what they request when first seen is what a grant covers. */
  notice(snapshot: Snapshot): void;
  /** Checks a request and writes it down. Throws what is wrong with the request itself. */
  plan(request: RunRequest, caller: RunCaller, signal: AbortSignal): Promise<RunSpec>;
  /** Everything that is checked before a run starts. Throws PERMISSION_DENIED, SECRET_MISSING, SKILL_NOT_READY or SANDBOX_UNAVAILABLE. */
  check(spec: RunSpec, caller: RunCaller, signal: AbortSignal): Promise<CheckedRun>;
  /**
   * Checks and runs. Once user code was started, the outcome is a result, whatever happens; before, it throws as `check` does, or
   * RUNTIME_BUSY. Rejects with the reason of `signal`.
   */
  run(spec: RunSpec, caller: RunCaller, signal: AbortSignal): Promise<RunResult>;
}

export interface RunsOptions extends RunMeans {
  readonly grants: Grants;
  readonly records: Pick<RunStore, "keep">;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Runs at one time. */
  readonly concurrency: number;
  readonly maxWaiting: number;
  readonly newRunId: () => string;
}

/** A run that has ended. */
export interface EndedRun {
  readonly end: RunEnd;
  readonly result: RunResult;
  /** All that it stored, also where the result does not list them all. */
  readonly blobs: readonly string[];
}

/** A run at some depth of nesting. */
interface CurrentRun {
  readonly spec: RunSpec;
  readonly caller: RunCaller;
  readonly tell: (step: RunStep) => void;
}

export function createRuns(options: RunsOptions): Runs {
  return new StagedRuns(options);
}

class StagedRuns implements Runs {
  readonly #options: RunsOptions;
  readonly #queue;
  readonly notice;

  constructor(options: RunsOptions) {
    this.#options = options;
    this.#queue = createRunQueue(options);
    this.notice = pinsGrants(options.grants);
  }

  async plan(request: RunRequest, caller: RunCaller, signal: AbortSignal): Promise<RunSpec> {
    const planning = { runId: this.#options.newRunId(), caller, signal };
    return await (request.type === "code" ? planCodeRun(planning, request) : planSkillRun(planning, request));
  }

  async check(spec: RunSpec, caller: RunCaller, signal: AbortSignal): Promise<CheckedRun> {
    const authorization = this.#authorize(spec, caller);
    const { sandbox } = await prepareRun(spec, caller, this.#options, signal);
    return { authorization, isolation: sandbox.tier, spec };
  }

  async run(spec: RunSpec, caller: RunCaller, signal: AbortSignal): Promise<RunResult> {
    // One signal may be that of a whole turn; from the eleventh run on, Node would warn of a leak.
    setMaxListeners(0, signal);
    const { result } = await this.#recorded(spec, caller, signal, async (tell) => {
      // Before the queue: a refusal should not have to wait.
      const prepared = await this.#prepare(spec, caller, signal);
      tell({ type: "queued" });
      const leave = await this.#queue.enter(caller.owner, signal);
      try {
        const budget = createBlobBudget(caller.limits.runBlobs);
        const deadline = this.#options.clock.now() + spec.limits.timeoutMs;
        const nesting = { depth: 1, hidden: [], budget, deadline, calls: { count: 0 } };
        return await this.#execute(prepared, { spec, caller, tell }, nesting, signal);
      } finally {
        leave();
      }
    });
    return result;
  }

  #authorize(spec: RunSpec, caller: RunCaller): Authorization {
    const authorization = authorize(spec, caller, this.#options.grants);
    if (authorization.allowed) return authorization;
    throw new SkillsError("PERMISSION_DENIED", authorization.why, { facts: { hint: authorization.hint } });
  }

  async #prepare(spec: RunSpec, caller: RunCaller, signal: AbortSignal): Promise<PreparedRun> {
    this.#authorize(spec, caller);
    return await prepareRun(spec, caller, this.#options, signal);
  }

  /** Tells how the run ended, and stores its record; the answer does not wait for that. */
  async #recorded(
    spec: RunSpec,
    caller: RunCaller,
    signal: AbortSignal,
    work: (tell: CurrentRun["tell"]) => Promise<EndedRun>,
  ): Promise<EndedRun> {
    const { now, records } = this.#options;
    const history = createHistory(spec, { now, onEvent: caller.onEvent });
    try {
      const ended = await work(history.tell);
      records.keep(history.completed(ended.result));
      return ended;
    } catch (error) {
      records.keep(history.failed(error, signal.aborted));
      throw error;
    }
  }

  async #execute(
    { sandbox, run }: PreparedRun,
    { spec, caller, tell }: CurrentRun,
    nesting: Nesting,
    signal: AbortSignal,
  ): Promise<EndedRun> {
    const { clock, newRunId } = this.#options;
    const { hidden, budget, depth } = nesting;
    const own = createMask(run.secrets);
    const mask = hidden.length === 0 ? own : createMask(run.secrets, hidden);
    const below = { ...nesting, depth: depth + 1, hidden: [...hidden, ...Object.values(run.secrets)] };
    const runNested = (call: NestedCall): Promise<EndedRun> => this.#runNested(call, { spec, caller, tell }, below);
    const nested = createNestedRuns({ spec, nesting: below, clock, tell, newRunId, run: runNested });
    const isScript = spec.program.type === "script";
    const record = recordRun({ isScript, caller, mask, callSkill: nested.call, budget, tell });
    const release = await holdAll(caller, spec);
    const start = clock.now();
    try {
      tell({ type: "started", isolation: sandbox.tier });
      const end = await sandbox.run(run, record.host, signal);
      // The caller has gone: there is nobody to be told.
      if (end.type === "cancelled") signal.throwIfAborted();
      const durationMs = Math.max(0, Math.round(clock.now() - start));
      const facts = { run, spec, caller, mask, nestedBlobs: nested.blobs, durationMs, isolation: sandbox.tier };
      // Secrets of the runs around it are theirs to get back.
      return { end: await own.end(end), ...(await toRunResult(end, record, facts)) };
    } finally {
      await release();
    }
  }

  /** A skill that code inside calls: in the turn of the outermost run, with what is left of its time. */
  async #runNested(
    { runId, skill, args, leftMs, signal }: NestedCall,
    outer: CurrentRun,
    nesting: Nesting,
  ): Promise<EndedRun> {
    const { caller } = outer;
    let spec: RunSpec;
    try {
      const planning = { runId, caller, signal, outer: { runId: outer.spec.runId, leftMs } };
      spec = await planSkillRun(planning, { name: skill.slug, version: skill.version, args: args as Arguments });
    } catch (error) {
      caller.onEvent?.({ runId, type: "ended", status: signal.aborted ? "cancelled" : "refused" });
      throw error;
    }
    return await this.#recorded(spec, caller, signal, async (tell) => {
      const prepared = await this.#prepare(spec, caller, signal);
      return await this.#execute(prepared, { spec, caller, tell }, nesting, signal);
    });
  }
}

/**
 * No sweep removes a blob that a run has mounted. Where one cannot be held, none is; where the disk cannot record a hold, the run goes
 * on: what it mounts is read before it starts.
 */
async function holdAll({ blobs, owner }: RunCaller, spec: RunSpec): Promise<() => Promise<void>> {
  const holds = await Promise.allSettled(spec.blobs.map(({ id }) => blobs.hold(owner, id)));
  const release = async (): Promise<void> => {
    // A hold that cannot be released ends with this process; the run has ended, and has a result.
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
