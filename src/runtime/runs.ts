import { setMaxListeners } from "node:events";
import { SkillsError, isSkillsError } from "../base/errors.ts";
import type { RunStep } from "../wire/run-event.ts";
import { isNothing } from "../skills/permissions.ts";
import type { Trust } from "./trust.ts";
import type { ConfiguredGrants } from "./trust/configured-grants.ts";
import {
  type AllowedOnce,
  type AuthorizeOptions,
  type ExpectedAuthorization,
  authorizationFacts,
  authorize,
  callersOf,
  createGrantPins,
  expectAuthorization,
} from "./runs/authorize.ts";
import {
  type CurrentRun,
  type EndedRun,
  type ExecutionEnvironment,
  type NestedCall,
  type Nesting,
  checkSupport,
  executeRun,
  isRemote,
  prepareRun,
} from "./runs/execute.ts";
import {
  type CodeRunRequest,
  type RunArguments,
  type SkillRunRequest,
  planCodeRun,
  planSkillRun,
  skillChanged,
} from "./runs/plan.ts";
import { type Replay, type ReplayOptions, replayRun } from "./runs/replay.ts";
import type { AuthorizedRun, RunExecutor } from "./runs/run-executor.ts";
import type { RunCaller } from "./runs/run-caller.ts";
import { RunQueue, type RunQueueOptions } from "./runs/run-queue.ts";
import type { RunResult, RunSpec } from "./runs/run-spec.ts";
import type { RunStore, StoredRun } from "./runs/run-store.ts";

export { type Standings, findStandings, toJudgedSkill, offeredToJudged, trustRequest } from "./runs/authorize.ts";
export { type CalledSkill, callsOf, isDeclared } from "./runs/plan.ts";
export { writeWholeResult } from "./runs/record.ts";
export type { JsonDifference, Replay } from "./runs/replay.ts";
export type { RunCaller } from "./runs/run-caller.ts";
export { runSpec } from "./runs/run-spec.ts";
export type { EndedRun } from "./runs/execute.ts";
export type { AuthorizedRun, RunExecutor, SubmittedRun } from "./runs/run-executor.ts";
export { openRunEnvironment, packagesIn, runRecordsIn } from "./runs/run-environment.ts";
export { defaultRunLimits, maxMountedBytes, maxTimeoutMs } from "./runs/run-limits.ts";
export type { RunFailure, RunResult, RunSpec } from "./runs/run-spec.ts";
export { type RunStore, type StoredRun, diskRunStore, parseStoredRun, runRetention } from "./runs/run-store.ts";

type RunRequest = ({ readonly type: "skill" } & SkillRunRequest) | ({ readonly type: "code" } & CodeRunRequest);

/** A run that was checked but not started, as JSON for the user. */
interface CheckedRun {
  readonly authorization: ExpectedAuthorization;
  readonly isolation: string;
  readonly spec: RunSpec;
}

export interface RunsOptions extends Omit<ExecutionEnvironment, "runNested">, RunQueueOptions {
  readonly trust: AuthorizeOptions["trust"] & Pick<Trust, "blockersOf">;
  readonly configured: ConfiguredGrants;
  readonly records: Omit<RunStore, "close">;
  /** The executor that takes runs instead of this process. */
  readonly executor?: RunExecutor | undefined;
  /** Records the start of a run that goes beyond its sandbox. Never throws; returns why it could not record the start. */
  readonly recordStart: (run: StartedRun) => Promise<string | undefined>;
  /** Records that a secret was sent for code that cannot read it. Must not throw. */
  readonly recordSent: (run: Omit<StartedRun, "isolation" | "by">, sent: SentStep) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** A run that is about to start. */
export interface StartedRun {
  readonly spec: RunSpec;
  readonly caller: Pick<RunCaller, "callerName" | "project">;
  readonly isolation: string;
  /** The grant or rule that allows the run, see `Authorization`. */
  readonly by: string;
}

type SentStep = Extract<RunStep, { readonly type: "secret_sent" }>;

type QueuedRun = Omit<CurrentRun, "starts">;

function unrecorded(skill: string, fault: string): SkillsError {
  const message = `The skill ${skill} was not run: it goes beyond its sandbox, and that cannot be recorded in the ledger (${fault}).`;
  const hint = "The user can make the data directory that acp-skills doctor names writable, or free space on its disk.";
  return new SkillsError("PERMISSION_DENIED", message, { facts: { hint } });
}

/** The maximum number of events in a record; of further events, only the end is recorded. Blobs and called skills have lower limits. */
const maxRecordedEvents = 1_000;

/** The maximum number of skills that are invoked on other machines at a time. */
const maxInvocations = 32;

/** Runs as data: request → plan → authorize → queue → execute → record. */
export class Runs {
  readonly #options: RunsOptions;
  readonly #environment: ExecutionEnvironment;
  readonly #queue;
  /** The queue of runs on other machines. They use no processor here; in a queue of their own, they do not delay local runs. */
  readonly #invocations = new RunQueue({ concurrency: maxInvocations, maxWaiting: 4 * maxInvocations });
  /** Pins the configured grants to the bytes of the skills that exist now. Never rejects. */
  readonly notice: ReturnType<typeof createGrantPins> | undefined;

  constructor(options: RunsOptions) {
    this.#options = options;
    this.#environment = { ...options, runNested: (...given) => this.#runNested(...given) };
    this.#queue = new RunQueue(options);
    this.notice = options.configured.isEmpty ? undefined : createGrantPins(options.configured);
  }

  /** Checks a request and writes the spec of its run. Throws if the request itself is invalid. */
  async plan(request: RunRequest, caller: RunCaller, signal: AbortSignal): Promise<RunSpec> {
    const planning = { runId: this.#options.newRunId(), caller, signal };
    return await (request.type === "code" ? planCodeRun(planning, request) : planSkillRun(planning, request));
  }

  /**
   * Makes all checks that precede a run, without asking the user. Throws SECRET_MISSING, SKILL_NOT_READY, PERMISSION_DENIED or
   * SANDBOX_UNAVAILABLE.
   */
  async check(spec: RunSpec, caller: RunCaller, signal: AbortSignal): Promise<CheckedRun> {
    const { trust } = this.#options;
    const authorization = await expectAuthorization(spec, caller, { trust, signal, once: new Set() });
    return { authorization, isolation: await this.#prepare(spec, caller, signal), spec };
  }

  /** Returns the isolation that the run would have; throws if this machine cannot execute it. */
  async #prepare(spec: RunSpec, caller: RunCaller, signal: AbortSignal): Promise<CheckedRun["isolation"]> {
    const { executor } = this.#options;
    if (executor?.takes(spec) === true) return executor.name;
    return (await prepareRun(spec, caller, this.#options, signal)).isolation;
  }

  #checksOf(spec: RunSpec, caller: RunCaller, signal: AbortSignal) {
    return {
      checkMachine: () => this.#prepare(spec, caller, signal),
      checkSupport: async (program, needs) => {
        if (this.#options.executor?.takes({ program, needs }) === true) return;
        await checkSupport(program, needs, caller, this.#options);
      },
    } satisfies Partial<AuthorizeOptions>;
  }

  /**
   * Checks and executes a run. Before its code starts, rejects as `check` does, or with RUNTIME_BUSY. Afterwards, rejects only for an
   * internal failure. An abort of `signal` rejects with its reason at any time.
   */
  async run(spec: RunSpec, caller: RunCaller, signal: AbortSignal): Promise<RunResult> {
    // All runs of a turn may share one signal; from the eleventh listener on, Node would warn of a leak.
    setMaxListeners(0, signal);
    const { trust, executor } = this.#options;
    const once: AllowedOnce = new Set();
    const { result } = await this.#recorded({ spec, caller, signal, once }, async (run) => {
      // Authorize before the queue: neither a refusal nor a question to the user should wait for a turn.
      const by = await authorize(spec, caller, { trust, signal, once, ...this.#checksOf(spec, caller, signal) });
      if (executor?.takes(spec) === true) {
        const facts = await authorizationFacts(spec, caller, { trust, signal, once });
        return await executor.execute({ ...run, by, facts });
      }
      const queue = isRemote(spec) ? this.#invocations : this.#queue;
      const leave = await queue.enter(caller.owner, signal, (behind) =>
        run.notify({ type: "queued", behind, ...(spec.skill && { skill: spec.skill.name }) }),
      );
      try {
        return await executeRun({ ...run, starts: this.#startOf(run, by) }, this.#environment);
      } finally {
        leave();
      }
    });
    return result;
  }

  /** Executes a run that another process authorized, queued and records. Throws as `run` does. */
  async executeAuthorized({ by, ...run }: AuthorizedRun): Promise<EndedRun> {
    const { spec, caller } = run;
    const notify = (step: RunStep): void => {
      if (step.type === "secret_sent") this.#options.recordSent({ spec, caller }, step);
      run.notify(step);
    };
    const starts: CurrentRun["starts"] = (step) => notify({ type: "started", ...step, by });
    return await executeRun({ ...run, notify, starts }, this.#environment);
  }

  /** Repeats a recorded run of any owner and compares the outcomes; see `replayRun`. For the user, never for models. */
  async replay(runId: string, caller: RunCaller, signal: AbortSignal): Promise<Replay> {
    const { records, newRunId } = this.#options;
    const run: ReplayOptions["run"] = (...given) => this.run(...given);
    return await replayRun(runId, caller, signal, { records, newRunId, environment: this.#options, run });
  }

  /** Passes the run's events on and stores its record once it is queued or started. The answer does not wait for the record. */
  async #recorded(run: Omit<QueuedRun, "notify">, work: (run: QueuedRun) => Promise<EndedRun>): Promise<EndedRun> {
    const { now, records, recordSent } = this.#options;
    const { spec, caller, signal } = run;
    const createdAt = now();
    /** The events of the run without printed text. */
    const events: StoredRun["events"][number][] = [];
    const keep = (status: StoredRun["status"], outcome: Pick<StoredRun, "result" | "error"> = {}): void =>
      records.keep({ spec, createdAt, status, events: [...events], ...outcome });
    const notify = (step: RunStep): void => {
      if (step.type !== "printed" && (events.length < maxRecordedEvents || step.type === "ended"))
        events.push({ atMs: Math.max(0, now() - createdAt), ...step });
      // After a crash, the record still has this status.
      if (step.type === "queued") keep("queued");
      if (step.type === "started") keep("running");
      if (step.type === "secret_sent") recordSent({ spec, caller }, step);
      caller.onEvent?.({ runId: spec.runId, ...step });
    };
    try {
      const ended = await work({ ...run, notify });
      notify({ type: "ended", status: ended.result.status });
      keep(ended.result.status, { result: ended.result });
      return ended;
    } catch (error) {
      const status = signal.aborted ? "cancelled" : "refused";
      notify({ type: "ended", status });
      // The details of an internal failure are in the log.
      const isOurs = !isSkillsError(error) || error.code === "INTERNAL";
      const { code, message } = isOurs ? { code: "INTERNAL", message: "Internal error." } : error;
      // A run that the queue refused is not recorded: its record could displace that of an executed run.
      if (code !== "RUNTIME_BUSY" || events.some(({ type }) => type !== "ended"))
        keep(status, signal.aborted ? {} : { error: { code, message } });
      throw error;
    }
  }

  /** Records the start of a run that can go beyond its sandbox, so that it is recorded even if this process is killed with it. */
  #startOf({ spec, caller, notify }: QueuedRun, by: string): CurrentRun["starts"] {
    return async (step) => {
      const isInside = isNothing(spec.needs) && !isRemote(spec);
      const start = { spec, caller, isolation: step.isolation, by };
      const fault = isInside ? undefined : await this.#options.recordStart(start);
      if (fault !== undefined) throw unrecorded(spec.skill?.name ?? "", fault);
      notify({ type: "started", ...step, by });
    };
  }

  /** Executes a skill that the code of a run calls, in the turn of the outermost run and with the rest of its time. */
  async #runNested(
    call: NestedCall,
    { spec: outer, caller, once, refused }: CurrentRun,
    nesting: Nesting,
  ): Promise<EndedRun> {
    const { runId, skill, args, leftMs, signal } = call;
    let spec: RunSpec;
    try {
      const planning = { runId, caller, signal, outer: { runId: outer.runId, leftMs } };
      spec = await planSkillRun(planning, { name: skill.slug, version: skill.version, args: args as RunArguments });
      if (spec.skill?.digest !== skill.digest) throw skillChanged(skill.name);
    } catch (error) {
      caller.onEvent?.({ runId, type: "ended", status: signal.aborted ? "cancelled" : "refused" });
      throw error;
    }
    const { trust } = this.#options;
    const calledBy = callersOf(outer, caller);
    return await this.#recorded({ spec, caller, signal, once, refused }, async (run) => {
      const checks = this.#checksOf(spec, caller, signal);
      const by = await authorize(spec, caller, { trust, signal, calledBy, once, refused, ...checks });
      return await executeRun({ ...run, starts: this.#startOf(run, by) }, this.#environment, nesting);
    });
  }
}
