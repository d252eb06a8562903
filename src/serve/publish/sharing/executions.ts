import { SkillsError } from "../../../base/errors.ts";
import { createDeferred } from "../../../base/promises.ts";
import type { RunListener } from "../../../wire/run-event.ts";
import type { StoredRun } from "../../../runtime/runs.ts";
import type { executionStates } from "../../../wire/skill-sharing.ts";
import type { HttpCaller, ServeContext } from "../../serve-context.ts";

/** The parameters of `execute_skill` that an invocation may have. */
export const executionParameters: readonly string[] = ["args", "version", "timeout_ms"];

/** A request for an execution. */
export interface ExecutionRequest {
  readonly caller: HttpCaller;
  readonly slug: string;
  /** Parameters of `execute_skill`: only `executionParameters`. */
  readonly input: object;
  /** The key under which executions are counted, and the maximum that may run at a time. */
  readonly share: { readonly key: string; readonly limit: number };
  /** Aborted if the client leaves before it received the id. */
  readonly signal: AbortSignal;
}

/** The key of an execution: callers find only their own. */
interface Key {
  readonly caller: HttpCaller;
  readonly slug: string;
  readonly id: string;
}

/** Runs that outlive the request that started them. */
export interface Executions {
  /**
   * Starts a run. Resolves with its id once it runs or waits in the queue, and its record survives this process. Rejects with the errors
   * of `execute_skill` until then, with RATE_LIMITED above the limit, and with RUNTIME_BUSY if it cannot be recorded.
   */
  start(request: ExecutionRequest): Promise<string>;
  /** Finds an execution; undefined if the caller has no such execution. Those of earlier processes are read from the run store. */
  find(key: Key): Promise<Execution | undefined>;
  /** Cancels an execution, if it still runs in this process; otherwise works like `find`. */
  cancel(key: Key): Promise<Execution | undefined>;
}

interface Running {
  readonly owner: string;
  readonly slug: string;
  state: "accepted" | "running";
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

const idForm = /^run_[A-Za-z0-9]{10,64}$/;

/** Creates the executions of a server. `stopped` cancels running ones; `hold` gets each execution until it has ended. */
export function createExecutions({ app, stopped, hold }: Pick<ServeContext, "app" | "stopped" | "hold">): Executions {
  const running = new Map<string, Running>();
  const counts = new Map<string, number>();

  function count(key: string, change: 1 | -1): number {
    const now = (counts.get(key) ?? 0) + change;
    if (now === 0) counts.delete(key);
    else counts.set(key, now);
    return now;
  }

  async function start({ caller, slug, input, share, signal }: ExecutionRequest): Promise<string> {
    if (count(share.key, 1) > share.limit) {
      count(share.key, -1);
      const message = `The limit of ${share.limit} executions at a time is reached; read the results of others first.`;
      throw new SkillsError("RATE_LIMITED", message);
    }
    const { owner } = caller.tools;
    const controller = new AbortController();
    const cancel = (): void => controller.abort(new Error("The execution was cancelled."));
    let id = "";
    const { promise: accepted, resolve: isAccepted } = createDeferred();
    const onEvent: RunListener = (event) => {
      caller.tools.onEvent?.(event);
      // The first event is of the run itself, not of a skill that it calls.
      if (id === "") id = event.runId;
      if (event.runId !== id) return;
      // If its turn comes at once, a missing secret or sandbox is found at once, too.
      if (event.type !== "started" && !(event.type === "queued" && event.behind > 0)) return;
      const state = event.type === "started" ? "running" : "accepted";
      const known = running.get(id);
      if (known !== undefined) known.state = state;
      else running.set(id, { owner, slug, state, controller, ended: work });
      isAccepted();
    };
    const outcome = app.toolbox.call(
      "execute_skill",
      { ...input, name: slug },
      { ...caller.tools, onEvent },
      controller.signal,
    );
    // The outcome is ignored here: the record of the run has it.
    const work = Promise.allSettled([outcome]).then(() => {
      running.delete(id);
      count(share.key, -1);
      stopped.removeEventListener("abort", cancel);
      signal.removeEventListener("abort", cancel);
    });
    stopped.addEventListener("abort", cancel, { once: true });
    signal.addEventListener("abort", cancel, { once: true });
    if (stopped.aborted || signal.aborted) cancel();
    hold(work);
    await Promise.race([accepted, outcome]);
    if (await (await app.runRecords()).stored(id)) return id;
    cancel();
    throw new SkillsError("RUNTIME_BUSY", "The execution cannot be recorded; try again later.");
  }

  async function find({ caller, slug, id }: Key): Promise<Execution | undefined> {
    if (!idForm.test(id)) return undefined;
    const { owner } = caller.tools;
    const isOwn = (one: { readonly owner: string; readonly slug: string }): boolean =>
      one.owner === owner && one.slug === slug;
    const current = running.get(id);
    if (current !== undefined) return isOwn(current) ? { id, state: current.state } : undefined;
    const record = await (await app.runRecords()).read(id);
    if (record === undefined || !isOwn({ owner: record.spec.owner, slug: record.spec.skill?.slug ?? "" }))
      return undefined;
    return toExecution(record);
  }

  return {
    start,
    find,
    async cancel(key) {
      const found = await find(key);
      const current = running.get(key.id);
      if (found === undefined || current === undefined) return found;
      current.controller.abort(new Error("The execution was cancelled."));
      await current.ended;
      return await find(key);
    },
  };
}

type State = (typeof executionStates)[number];

/** A run as an execution of Skill Sharing. */
export interface Execution {
  readonly id: string;
  readonly state: State;
  /** The answer of an ended execution, besides its id and status. */
  readonly outcome?: Readonly<Record<string, unknown>>;
}

const states: Readonly<Record<StoredRun["status"], State>> = {
  queued: "accepted",
  running: "running",
  completed: "completed",
  failed: "failed",
  // A refused run never started; the outcome has the reason.
  refused: "failed",
  cancelled: "cancelled",
  interrupted: "failed",
};

/** Converts the record of a run into an execution. Pure. */
function toExecution({ spec, status, result, error }: StoredRun): Execution {
  const state = states[status];
  const execution = { id: spec.runId, state };
  if (state === "accepted" || state === "running") return execution;
  return { ...execution, outcome: result ?? endedWithoutResult(status, error) };
}

/** Returns the outcome of a run without a result: one that was refused or cancelled, or whose process ended first. */
function endedWithoutResult(status: StoredRun["status"], error: StoredRun["error"]): Record<string, unknown> {
  if (status === "cancelled") return { error: { type: "CancelledError", message: "The execution was cancelled." } };
  if (error !== undefined) return { error: { type: "RefusedError", code: error.code, message: error.message } };
  const message = "The server was stopped before the execution ended.";
  return { error: { type: "InterruptedError", code: "INTERNAL", message } };
}
