import type { AuthorizationFacts } from "./authorize.ts";
import type { EndedRun, CurrentRun } from "./execute.ts";
import type { RunSpec } from "./run-spec.ts";

/** A run that was authorized, with the facts that its spec does not state. */
export interface AuthorizedRun extends Omit<CurrentRun, "starts"> {
  /** The grant or rule that allows the run, see `Authorization`. */
  readonly by: string;
}

/** A run for an executor outside this process, with the facts behind its authorization. */
export interface SubmittedRun extends AuthorizedRun {
  readonly facts: AuthorizationFacts;
}

/** The port to an executor outside this process, in which runs wait and are executed. */
export interface RunExecutor {
  /** The name of the executor, which results of `check` give as their isolation. */
  readonly name: string;
  /** Whether the executor takes such a run; this process executes all others. */
  takes(run: Pick<RunSpec, "program" | "needs">): boolean;
  /**
   * Executes a run in its turn and records it. `notify` receives the step `queued`; the caller's listener receives the other steps, except
   * the end. Rejects as `Runs.run` does; an abort of `signal` also cancels the run. The run's blobs are in the caller's store when this
   * resolves.
   */
  execute(run: SubmittedRun): Promise<EndedRun>;
}
