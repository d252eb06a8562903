import type { ExitStatus } from "./start-agent.ts";

/** The part of `process` that decides how a process ends. */
export interface EndingProcess {
  exitCode?: number | string | null | undefined;
  readonly pid: number;
  kill(pid: number, signal: NodeJS.Signals): unknown;
}

/** Ends this process as the agent ended, so that the parent sees the same: by the same signal, or with the same exit code. */
export function exitAs({ exitCode, signal }: ExitStatus, self: EndingProcess = process): void {
  self.exitCode = exitCode;
  if (signal !== undefined) self.kill(self.pid, signal);
}
