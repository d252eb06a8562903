import type { App } from "../../../app.ts";
import { LimitedMap } from "../../../base/limited-map.ts";
import { isSkillsError, SkillsError } from "../../../errors.ts";
import type { RunListener } from "../../../runs/run-event.ts";
import type { HttpCaller } from "../../http-caller.ts";
import { endedWithoutResult, toExecution } from "./to-execution.ts";
import type { Execution } from "./to-execution.ts";

/** Of `execute_skill`, what an invocation may say. */
export const executionParameters: readonly string[] = ["args", "version", "timeout_ms"];

/** An execution that is asked for. */
export interface ExecutionRequest {
  readonly caller: HttpCaller;
  readonly slug: string;
  /** Only `executionParameters`. */
  readonly input: object;
  /** Whose executions count together, and how many of them may run at a time. */
  readonly share: { readonly key: string; readonly limit: number };
  /** Aborted if the client leaves before it was told the id. */
  readonly signal: AbortSignal;
}

/** What names an execution: callers find only their own. */
interface Key {
  readonly caller: HttpCaller;
  readonly slug: string;
  readonly id: string;
}

/** Runs that outlive the request that started them (CONTRACT C-6.4). */
export interface Executions {
  /**
   * Starts a run; resolves once it runs, or waits for its turn behind others. Throws what is wrong until then as `execute_skill` does, and
   * RATE_LIMITED above the limit.
   */
  start(request: ExecutionRequest): Promise<Execution>;
  /** Undefined where the caller has no such execution. Those of earlier processes are found in the run store. */
  find(key: Key): Promise<Execution | undefined>;
  /** Cancels an execution, if it still runs here; otherwise as `find`. */
  cancel(key: Key): Promise<Execution | undefined>;
}

interface Running {
  readonly owner: string;
  readonly slug: string;
  state: "accepted" | "running";
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

/** Executions that have ended, kept because their records are written a little later. */
const maxEnded = 256;
const idForm = /^run_[A-Za-z0-9]{10,64}$/;

/** `stopped` cancels what still runs; `hold` is told of each execution, until it has ended. */
export function openExecutions({
  app,
  stopped,
  hold,
}: {
  readonly app: Pick<App, "toolbox" | "runRecords">;
  readonly stopped: AbortSignal;
  readonly hold: (work: Promise<void>) => void;
}): Executions {
  const running = new Map<string, Running>();
  const ended = new LimitedMap<string, Execution & Pick<Running, "owner" | "slug">>(maxEnded);
  const counts = new Map<string, number>();

  function count(key: string, change: 1 | -1): number {
    const now = (counts.get(key) ?? 0) + change;
    if (now === 0) counts.delete(key);
    else counts.set(key, now);
    return now;
  }

  async function start({ caller, slug, input, share, signal }: ExecutionRequest): Promise<Execution> {
    if (count(share.key, 1) > share.limit) {
      count(share.key, -1);
      const message = `The limit of ${share.limit} executions at a time is reached; read the results of others first.`;
      throw new SkillsError("RATE_LIMITED", message);
    }
    const { owner } = caller.tools;
    const controller = new AbortController();
    const cancel = (): void => controller.abort(new Error("The execution was cancelled."));
    let id = "";
    let isAccepted: (execution: Execution) => void = () => undefined;
    const accepted = new Promise<Execution>((resolve) => (isAccepted = resolve));
    const onEvent: RunListener = (event) => {
      caller.tools.onEvent?.(event);
      // The first event is of the run itself, not of a skill that it calls.
      if (id === "") id = event.runId;
      if (event.runId !== id) return;
      // Where it has its turn at once, a missing secret or sandbox is known at once, too.
      if (event.type !== "started" && !(event.type === "queued" && event.behind > 0)) return;
      const state = event.type === "started" ? "running" : "accepted";
      const known = running.get(id);
      if (known !== undefined) known.state = state;
      else running.set(id, { owner, slug, state, controller, ended: work });
      isAccepted({ id, state });
    };
    const outcome = app.toolbox.call(
      "execute_skill",
      { ...input, name: slug },
      { ...caller.tools, onEvent },
      controller.signal,
    );
    const work = outcome
      .then(
        (result) => keep(toEnded(id, result)),
        (error: unknown) => keep(toRefused(id, error, controller.signal)),
      )
      .finally(() => {
        count(share.key, -1);
        stopped.removeEventListener("abort", cancel);
        signal.removeEventListener("abort", cancel);
      });

    /** Of what was never accepted, the client is told otherwise. */
    function keep(execution: Execution): void {
      if (!running.delete(id)) return;
      ended.set(id, { ...execution, owner, slug });
    }

    stopped.addEventListener("abort", cancel, { once: true });
    signal.addEventListener("abort", cancel, { once: true });
    if (stopped.aborted || signal.aborted) cancel();
    hold(work);
    return await Promise.race([accepted, outcome.then((result) => toEnded(id, result))]);
  }

  async function find({ caller, slug, id }: Key): Promise<Execution | undefined> {
    if (!idForm.test(id)) return undefined;
    const { owner } = caller.tools;
    const isOwn = (one: { readonly owner: string; readonly slug: string }): boolean =>
      one.owner === owner && one.slug === slug;
    const current = running.get(id);
    if (current !== undefined) return isOwn(current) ? { id, state: current.state } : undefined;
    const last = ended.get(id);
    if (last !== undefined) return isOwn(last) ? last : undefined;
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

function toEnded(id: string, output: unknown): Execution {
  const outcome = output as { readonly status: "completed" | "failed" } & Record<string, unknown>;
  return { id, state: outcome.status, outcome };
}

function toRefused(id: string, error: unknown, { aborted: isCancelled }: AbortSignal): Execution {
  if (isCancelled) return { id, state: "cancelled", outcome: endedWithoutResult("cancelled") };
  const { code, message } = isSkillsError(error) ? error : { code: "INTERNAL", message: "Internal error." };
  return { id, state: "failed", outcome: endedWithoutResult("refused", { code, message }) };
}
