import { setMaxListeners } from "node:events";
import { SkillsError } from "../errors.ts";
import type { Snapshot } from "../skills/skill.ts";
import type { Grants } from "../trust/grants.ts";
import { authorize, pinsGrants } from "./authorize/authorize.ts";
import type { Authorization } from "./authorize/authorize.ts";
import { executeRun } from "./execute/execute-run.ts";
import type { CurrentRun, EndedRun, ExecutionEnvironment, NestedCall, Nesting } from "./execute/execute-run.ts";
import { prepareRun } from "./execute/prepare-run.ts";
import { planCodeRun } from "./plan/plan-run.ts";
import type { Arguments, CodeRunRequest } from "./plan/plan-run.ts";
import { planSkillRun } from "./plan/plan-skill-run.ts";
import type { SkillRunRequest } from "./plan/plan-skill-run.ts";
import type { RunResult } from "./record/run-result.ts";
import { createHistory } from "./record/run-recorder.ts";
import type { RunCaller } from "./run-caller.ts";
import { createRunQueue } from "./run-queue.ts";
import type { RunQueueOptions } from "./run-queue.ts";
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

export interface RunsOptions extends Omit<ExecutionEnvironment, "runNested">, RunQueueOptions {
  readonly grants: Grants;
  readonly records: Pick<RunStore, "keep">;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export function createRuns(options: RunsOptions): Runs {
  return new StagedRuns(options);
}

class StagedRuns implements Runs {
  readonly #options: RunsOptions;
  readonly #environment: ExecutionEnvironment;
  readonly #queue;
  readonly notice;

  constructor(options: RunsOptions) {
    this.#options = options;
    this.#environment = { ...options, runNested: (...given) => this.#runNested(...given) };
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
    const { result } = await this.#recorded(spec, caller, signal, async (run) => {
      // Before the queue: a refusal should not have to wait.
      this.#authorize(spec, caller);
      run.tell({ type: "queued", behind: this.#queue.behind });
      const leave = await this.#queue.enter(caller.owner, signal);
      try {
        return await executeRun(run, this.#environment);
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

  /** Tells how the run ended, and keeps its record; the answer does not wait for that. */
  async #recorded(
    spec: RunSpec,
    caller: RunCaller,
    signal: AbortSignal,
    work: (run: CurrentRun) => Promise<EndedRun>,
  ): Promise<EndedRun> {
    const { now, records } = this.#options;
    const history = createHistory(spec, { now, records, onEvent: caller.onEvent });
    try {
      const ended = await work({ spec, caller, signal, tell: history.tell });
      history.completed(ended.result);
      return ended;
    } catch (error) {
      history.failed(error, signal.aborted);
      throw error;
    }
  }

  /** A skill that code inside calls: in the turn of the outermost run, with what is left of its time. */
  async #runNested(call: NestedCall, { spec: outer, caller }: CurrentRun, nesting: Nesting): Promise<EndedRun> {
    const { runId, skill, args, leftMs, signal } = call;
    let spec: RunSpec;
    try {
      const planning = { runId, caller, signal, outer: { runId: outer.runId, leftMs } };
      spec = await planSkillRun(planning, { name: skill.slug, version: skill.version, args: args as Arguments });
    } catch (error) {
      caller.onEvent?.({ runId, type: "ended", status: signal.aborted ? "cancelled" : "refused" });
      throw error;
    }
    return await this.#recorded(spec, caller, signal, async (run) => {
      this.#authorize(spec, caller);
      return await executeRun(run, this.#environment, nesting);
    });
  }
}
