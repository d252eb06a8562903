import type { Clock } from "../../base/clock.ts";
import { isSkillsError } from "../../base/errors.ts";
import type { AllowedOnce } from "./authorize.ts";
import type { Json, SkillCallFailure } from "../sandbox.ts";
import { maxNestedRuns, maxNesting } from "./run-limits.ts";
import { type BlobBudget, createBlobBudget, recordRun, toRunResult } from "./record.ts";
import { createMask } from "./record/run-text.ts";
import type { RunCaller } from "./run-caller.ts";
import type { RunStep } from "../../wire/run-event.ts";
import type { RunResult, RunSpec } from "./run-spec.ts";
import { prepareRemoteRun } from "./execute/prepare-remote-run.ts";
import { type SecretRequests, openSecretRequests } from "./execute/secret-requests.ts";
import { type PreparedRun, type RunEnvironment, prepareSandboxRun } from "./execute/prepare-run.ts";

export { checkSupport } from "./execute/prepare-run.ts";

/** A run of a skill that another machine offers. None of its code runs here, so it needs no sandbox. */
export type RemoteRunSpec = RunSpec & { readonly program: Extract<RunSpec["program"], { readonly type: "remote" }> };

export function isRemote(spec: RunSpec): spec is RemoteRunSpec {
  return spec.program.type === "remote";
}

/** A run, at any depth of nesting. */
export interface CurrentRun {
  readonly spec: RunSpec;
  readonly caller: RunCaller;
  readonly notify: (step: RunStep) => void;
  /** Announces the start, as the last step before it. Throws PERMISSION_DENIED if the start must be recorded and cannot be. */
  readonly starts: (step: Omit<Extract<RunStep, { readonly type: "started" }>, "type" | "by">) => Promise<void> | void;
  readonly signal: AbortSignal;
  /** The requests that were allowed for the outermost run only. */
  readonly once: AllowedOnce;
  /** The refused requests, see `AuthorizeOptions`. */
  readonly refused?: ReadonlySet<string> | undefined;
}

/** The state that a run shares with the runs that it calls and with those that called it. */
export interface Nesting {
  /** 1 for the outermost run. */
  readonly depth: number;
  /** The secrets of the outer runs, masked in the output like the run's own secrets. */
  readonly hidden: readonly string[];
  /** The budget that the runs of all depths share. */
  readonly budget: BlobBudget;
  readonly deadline: number;
  readonly calls: { count: number };
}

/** A run that another run's code requests. */
export interface NestedCall {
  readonly runId: string;
  readonly skill: RunSpec["brokered"][number];
  readonly args: Json;
  readonly leftMs: number;
  readonly signal: AbortSignal;
}

export interface ExecutionEnvironment extends RunEnvironment {
  readonly clock: Clock;
  readonly newRunId: () => string;
  /** Plans, authorizes, executes and records a skill that the code of `outer` calls. */
  readonly runNested: (call: NestedCall, outer: CurrentRun, nesting: Nesting) => Promise<EndedRun>;
}

/** A run that has ended. */
export interface EndedRun {
  readonly result: RunResult;
  /** The value for the run that called this one. The secrets of this run are masked in it; the outer runs may get theirs back. */
  readonly returned?: { readonly value: Json };
  /** The ids of all blobs that the run stored, even if the result does not list them all. */
  readonly blobs: readonly string[];
}

/** Resolves what an authorized run needs, in the process that executes it. Throws as `prepareSandboxRun` and `prepareRemoteRun` do. */
export async function prepareRun(
  spec: RunSpec,
  caller: RunCaller,
  environment: RunEnvironment,
  signal: AbortSignal,
): Promise<PreparedRun> {
  return isRemote(spec)
    ? await prepareRemoteRun(spec, caller, environment, signal)
    : await prepareSandboxRun(spec, caller, environment, signal);
}

/**
 * Executes an authorized run. Throws as `prepareRun` does; once user code has started, throws only internal failures and the reason of
 * `signal`. `around`: the state shared with the run that called this one.
 */
export async function executeRun(
  current: CurrentRun,
  environment: ExecutionEnvironment,
  around?: Nesting,
): Promise<EndedRun> {
  const { spec, caller, notify, starts, signal } = current;
  const { isolation, run, packages, sent = [], execute } = await prepareRun(spec, caller, environment, signal);
  const release = await holdBlobs(caller, spec);
  let requests: SecretRequests | undefined;
  try {
    const start = environment.clock.now();
    const nesting = around ?? {
      depth: 1,
      hidden: [],
      budget: createBlobBudget(caller.limits.runBlobs),
      deadline: start + spec.limits.timeoutMs,
      calls: { count: 0 },
    };
    const { budget, depth, hidden } = nesting;
    const values = { ...run.secrets, ...Object.fromEntries(sent.map(({ name, value }) => [name, value])) };
    const mask = createMask(values, hidden);
    const below = { ...nesting, depth: depth + 1, hidden: [...hidden, ...Object.values(values)] };
    const called = callableSkills(current, below, environment);
    const record = recordRun({ spec, caller, mask, callSkill: called.call, budget, notify });
    const { openRequests: open, clock } = environment;
    requests =
      sent.length === 0
        ? undefined
        : openSecretRequests({ secrets: sent, open, clock, deadline: nesting.deadline, notify });
    await starts({ isolation, ...(packages !== undefined && { packages: packages.digest }) });
    const end = await execute({ ...record.host, ...(requests && { fetch: requests.fetch }) }, signal);
    // The caller has gone: a result would have no receiver.
    if (end.type === "cancelled") signal.throwIfAborted();
    const durationMs = Math.max(0, Math.round(environment.clock.now() - start));
    const facts = { run, spec, caller, mask, nestedBlobs: called.blobs, durationMs, isolation };
    const ended = await toRunResult(end, record, facts);
    if (end.type !== "returned" || around === undefined) return ended;
    return { ...ended, returned: { value: await createMask(values, [], { cuts: false }).json(end.value) } };
  } finally {
    await requests?.close();
    await release();
  }
}

/** Creates the error for a called skill that did not complete; the sandbox raises it in the calling code as `SkillError`. */
function callFailure(type: string, message: string, runId?: string): Error & SkillCallFailure {
  return Object.assign(new Error(message), { type, ...(runId !== undefined && { runId }) });
}

/** Creates the function by which the code of a run calls skills, each in a sandbox of its own, and the list of their blobs. */
function callableSkills(outer: CurrentRun, nesting: Nesting, environment: ExecutionEnvironment) {
  const { clock, newRunId, runNested } = environment;
  const blobs: string[] = [];
  return {
    blobs,
    call: async (name: string, args: Json, signal: AbortSignal): Promise<Json> => {
      const skill = outer.spec.brokered.find((brokered) => brokered.name === name);
      if (skill === undefined)
        throw callFailure("SkillNotFoundError", `There is no skill ${JSON.stringify(name.slice(0, 128))} to call.`);
      if (nesting.depth > maxNesting + 1)
        throw callFailure("NestingLimitError", `Skill calls can be nested at most ${maxNesting} deep.`);
      if (++nesting.calls.count > maxNestedRuns)
        throw callFailure("NestingLimitError", `A run can call at most ${maxNestedRuns} skills.`);
      const runId = newRunId();
      const { version, digest } = skill;
      outer.notify({ type: "skill_called", skill: skill.name, version, digest, calledRunId: runId });
      const leftMs = Math.max(1, nesting.deadline - clock.now());
      const ended = await runNested({ runId, skill, args, leftMs, signal }, outer, nesting).catch((error: unknown) => {
        // The code inside gets a refusal like a model would; any other error is internal and is reported here.
        if (isSkillsError(error) && error.code !== "INTERNAL") throw callFailure(error.code, error.message);
        throw error;
      });
      blobs.push(...ended.blobs);
      if (ended.returned !== undefined) return ended.returned.value;
      const { type, message } = ended.result.error ?? { type: "SkillError", message: ended.result.summary };
      throw callFailure(type, message, runId);
    },
  };
}

/**
 * Holds the blobs that a run mounts, so that no sweep removes them. If one cannot be held, none is. If the disk cannot record a hold, the
 * run goes on, because its blobs are read before it starts.
 */
async function holdBlobs({ blobs, owner }: RunCaller, spec: RunSpec): Promise<() => Promise<void>> {
  const holds = await Promise.allSettled(spec.blobs.map(({ id }) => blobs.hold(owner, id)));
  const release = async (): Promise<void> => {
    // A hold that cannot be released ends with this process; the run already has its result.
    await Promise.allSettled(holds.map(async (hold) => hold.status === "fulfilled" && (await hold.value())));
  };
  const isDiskRefusal = (error: unknown): boolean => isSkillsError(error) && error.facts.limit === "disk";
  const refused = holds.find((hold) => hold.status === "rejected" && !isDiskRefusal(hold.reason));
  if (refused?.status !== "rejected") return release;
  await release();
  throw refused.reason;
}
