import type { ExitStatus } from "./start-agent.ts";

/** The part of `process` that is needed. */
export interface EndingProcess {
  exitCode?: number | string | null | undefined;
  readonly pid: number;
  kill(pid: number, signal: NodeJS.Signals): unknown;
}

/**
 * Ends this process as the agent ended, so that the parent sees the same: by the same signal, or with the same exit code.
 * For SIGUSR1 only the exit code is set, because that signal opens Node's debugger instead of ending the process.
 */
export function exitAs({ exitCode, signal }: ExitStatus, self: EndingProcess = process): void {
  self.exitCode = exitCode;
  if (signal !== undefined && signal !== "SIGUSR1") self.kill(self.pid, signal);
}
