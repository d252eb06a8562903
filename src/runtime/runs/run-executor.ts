import type { AuthorizationFacts } from "./authorize.ts";
import type { EndedRun, CurrentRun } from "./execute.ts";
import type { RunSpec } from "./run-spec.ts";

/** A run that was authorized, and what its spec does not say. */
export interface AuthorizedRun extends Omit<CurrentRun, "starts"> {
  /** By what it is allowed, see `Authorization`. */
  readonly by: string;
}

/** A run that somebody else has to execute, with all that this needs. */
export interface SubmittedRun extends AuthorizedRun {
  readonly facts: AuthorizationFacts;
}

/** The port to where runs wait and are executed, where that is not this process. */
export interface RunExecutor {
  /** What results of `check` name as their isolation. */
  readonly name: string;
  /** Whether it executes such runs; others are executed by this process. */
  takes(run: Pick<RunSpec, "program" | "needs">): boolean;
  /**
   * Executes a run in its turn, and records it; `notify` gets that it is queued, the listener of the caller all other steps but its end. Rejects as `Runs.run` does, and with the reason of
   * `signal`, which cancels the run. Its blobs are in the store of the caller when this resolves.
   */
  execute(run: SubmittedRun): Promise<EndedRun>;
}
