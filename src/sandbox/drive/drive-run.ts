import type { Clock } from "../../base/clock.ts";
import { SkillsError } from "../../errors.ts";
import type { Log } from "../../base/log.ts";
import { encodeLongFrame, FrameFault, sendFrame } from "../frames/frames.ts";
import { passPrinted } from "./pass-on.ts";
import { serveProgram } from "./program-calls.ts";
import type { RunResult } from "../frames/program-result.ts";
import { runFrame, startFrame } from "../frames/run-frames.ts";
import type { Surroundings } from "../frames/run-frames.ts";
import type { SandboxProcess } from "./sandbox-process.ts";
import type { RunEnd, RunHost, RunLimits, SandboxRun } from "../sandbox.ts";
import { serveSupervisor, tellSkipped } from "./supervisor-report.ts";
import type { SupervisorReport } from "./supervisor-report.ts";

type Stop = "timeout" | "cancelled" | "output" | "fault";

/** How long a supervisor may take to kill all processes and exit, before the host kills the sandbox. */
export const graceMs = 2_000;

/**
 * Drives the one run of a prepared sandbox; resolves when every process of the run is dead. The sandbox itself may still be
 * exiting, unless it violated the protocol. What the host observed takes precedence over the supervisor's report, and that over the
 * program's. Errors of `host.output` are passed on.
 */
export async function driveRun(
  sandbox: SandboxProcess,
  run: SandboxRun,
  surroundings: Surroundings,
  host: RunHost,
  signal: AbortSignal,
  { clock, log }: { clock: Clock; log: Log },
): Promise<RunEnd> {
  const task = await encodeTask(run, surroundings);
  let stopped: Stop | undefined;
  const over = new AbortController();
  const timers: (() => void)[] = [];
  let reported = false;

  const stop = (reason: Stop): void => {
    if (stopped !== undefined) return;
    stopped = reason;
    sendFrame(sandbox.control, { type: "stop", reason });
    timers.push(clock.after(graceMs, () => sandbox.kill()));
  };
  const cancel = (): void => stop("cancelled");
  const clearTimers = (): void => {
    for (const clear of timers.splice(0)) clear();
  };

  sandbox.keepAlive(true);
  const printed = passOutput(sandbox, run.limits, host, () => stop("output"));
  sendFrame(sandbox.control, startFrame(run, surroundings));
  sandbox.program.write(task);
  timers.push(clock.after(run.limits.timeoutMs, () => stop("timeout")));
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();

  const said = serveProgram(sandbox.program, run, host, over.signal, {
    log,
    clock,
    tooMuch: () => stop("output"),
  }).catch((error: unknown) => {
    // A program that violates the protocol is killed.
    stop("fault");
    return error instanceof FrameFault ? error : new FrameFault(String(error));
  });
  try {
    // From the first frame of the report on, every process of the run is dead.
    const report = await serveSupervisor(sandbox.frames, run.limits, host, clearTimers);
    timers.push(clock.after(graceMs, () => sandbox.kill()));
    over.abort();
    reported = report !== undefined && !(report instanceof FrameFault);
    if (!reported) await sandbox.exited;
    await printed;
    if (report !== undefined && !(report instanceof FrameFault)) tellSkipped(report.skipped, host);
    return judge(run, stopped, report, await said, sandbox.lastWords());
  } finally {
    signal.removeEventListener("abort", cancel);
    over.abort();
    if (!reported) {
      sandbox.kill();
      await sandbox.exited;
    }
    clearTimers();
  }
}

/** Throws `SANDBOX_UNAVAILABLE` for code or arguments that exceed the limit of a frame. */
async function encodeTask(run: SandboxRun, surroundings: Surroundings): Promise<Buffer> {
  try {
    return await encodeLongFrame(runFrame(run, surroundings));
  } catch (error) {
    if (error instanceof RangeError)
      throw new SkillsError("SANDBOX_UNAVAILABLE", `The run is too large. ${error.message}`);
    throw error;
  }
}

/** Passes on what is printed until it is too much; resolves when nothing more can arrive. */
function passOutput(sandbox: SandboxProcess, limits: RunLimits, host: RunHost, tooMuch: () => void): Promise<unknown> {
  const pass = passPrinted(limits, host, tooMuch);
  return Promise.all(
    (["stdout", "stderr"] as const).map(
      (name) =>
        new Promise<void>((resolve) => {
          const stream = sandbox[name];
          stream.on("data", (bytes: Buffer) => pass(name, bytes)).on("close", resolve);
          // A program that exited early may have closed it before.
          if (stream.closed) resolve();
        }),
    ),
  );
}

function judge(
  run: SandboxRun,
  stopped: Stop | undefined,
  report: SupervisorReport | FrameFault | undefined,
  said: RunResult | FrameFault | undefined,
  lastWords: string,
): RunEnd {
  if (stopped === "cancelled") return { type: "cancelled" };
  if (stopped !== undefined && stopped !== "fault") return { type: "limit", limit: stopped };
  if (report instanceof FrameFault)
    return { type: "crashed", detail: `The supervisor violated the protocol: ${report.message}` };
  if (report === undefined) return { type: "crashed", detail: `The sandbox exited without a result. ${lastWords}` };
  if (report.killed !== undefined) return { type: "limit", limit: report.killed };
  if (said instanceof FrameFault)
    return { type: "crashed", detail: `The program violated the protocol: ${said.message}` };
  if (said?.type === "raised" && said.error.type === "MemoryError") return { type: "limit", limit: "memory" };
  if (run.program.type === "script" && said === undefined) return { type: "exited", exitCode: report.exitCode };
  return said ?? { type: "crashed", detail: `The program exited without a result; exit code ${report.exitCode}.` };
}
