import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { openFramePace } from "../frames/frame-pace.ts";
import { encodeLongFrame, FrameFault, sendFrame } from "../frames/frames.ts";
import type { Frame } from "../frames/frames.ts";
import { answerCall, reply, whenAborted } from "../drive/program-calls.ts";
import { readResult } from "../frames/program-result.ts";
import type { ProgramResult } from "../frames/program-result.ts";
import { sendFiles } from "./pyodide-files.ts";
import type { LaidFile } from "./pyodide-files.ts";
import type { PyodideProcess } from "./pyodide-process.ts";
import type { RunEnd, RunHost, RunLimits, SandboxRun } from "../sandbox.ts";
import { isInside, tellSkipped } from "../frames/supervisor-report.ts";

type Stop = "timeout" | "cancelled" | "output";

/** What came over the one channel, on which everything may have been forged by the program. */
interface Told {
  said?: ProgramResult;
  end?: Frame["header"];
  fault?: FrameFault;
}

/** How long the child may take to hand over what was left when the time is over; its first thread takes less. */
const graceMs = 2_000;

/**
 * Takes a child that waits through its one run, and answers when it is dead. What the host saw outranks what the child's first
 * thread says, and that outranks what comes over the channel. What a file's `read` and `host.output` throw passes through.
 */
export async function drivePyodideRun(
  child: PyodideProcess,
  run: SandboxRun,
  files: readonly LaidFile[],
  host: RunHost,
  signal: AbortSignal,
  { clock, log }: { clock: Clock; log: Log },
): Promise<RunEnd> {
  let stopped: Stop | undefined;
  const told: Told = {};
  const over = new AbortController();
  const timers: (() => void)[] = [];
  const stop = (reason: Stop): void => {
    stopped ??= reason;
    over.abort();
    child.kill();
  };
  const cancel = (): void => stop("cancelled");
  const timeIsUp = (): void => {
    if (told.said !== undefined || told.end !== undefined) return;
    stopped ??= "timeout";
    over.abort();
    // A program that waits for an answer now waits no longer.
    child.stdin.end();
  };
  signal.addEventListener("abort", cancel, { once: true });
  try {
    sendFrame(child.stdin, { type: "start", limits: { disk_bytes: run.limits.diskBytes } });
    await sendFiles(child.stdin, files);
    if (signal.aborted) return { type: "cancelled" };
    child.stdin.write(await encodeLongFrame(runFrame(run)));
    timers.push(clock.after(run.limits.timeoutMs, timeIsUp));
    timers.push(clock.after(run.limits.timeoutMs + graceMs, child.kill));
    await listen(child, run, host, over.signal, { told, log, clock, tooMuch: () => stop("output") });
    over.abort();
    child.kill();
    await child.exited;
    tellSkipped(told.end?.["skipped"], host);
    return judge(run, stopped, child, told);
  } finally {
    signal.removeEventListener("abort", cancel);
    over.abort();
    for (const clear of timers) clear();
    child.kill();
    await child.exited;
  }
}

interface Listening {
  readonly told: Told;
  readonly log: Log;
  readonly clock: Clock;
  readonly tooMuch: () => void;
}

/** Serves the child until it is over, or breaks the rules. */
async function listen(
  { frames, stdin }: PyodideProcess,
  run: SandboxRun,
  host: RunHost,
  over: AbortSignal,
  { told, log, clock, tooMuch }: Listening,
): Promise<void> {
  const abandoned = whenAborted(over);
  const print = printer(run.limits, host, tooMuch);
  const leave = collector(run.limits, host);
  const pace = openFramePace(clock);
  try {
    for (let frame = await frames.next(); frame !== undefined; frame = await frames.next()) {
      await pace(frame, over);
      switch (frame.header.type) {
        case "print":
          await print(frame);
          break;
        case "create_blob":
        case "call_skill": {
          const id = frame.header["id"];
          if (told.said !== undefined) throw new FrameFault("The program went on after its result.");
          // What is over is only listened to for what it leaves.
          if (over.aborted) break;
          if (!Number.isSafeInteger(id) || (id as number) < 0) throw new FrameFault("A call has no such number.");
          const answer = await Promise.race([answerCall(frame, run, host, over, log), abandoned]);
          if (answer !== undefined) await reply(stdin, id, answer);
          break;
        }
        case "returned":
        case "raised":
          if (told.said !== undefined) throw new FrameFault("The program went on after its result.");
          told.said = readResult(frame, run.limits.resultBytes);
          if (told.said.type === "too-large") return;
          break;
        case "file":
          await leave(frame);
          break;
        case "end":
          told.end = frame.header;
          return;
        default:
          throw new FrameFault("It sent what nobody knows.");
      }
    }
  } catch (error) {
    if (!(error instanceof FrameFault)) throw error;
    told.fault = error;
  }
}

/** Passes on what is printed, until it is too much. */
function printer(limits: RunLimits, host: RunHost, tooMuch: () => void): (frame: Frame) => Promise<void> {
  let left = limits.printedBytes;
  return async ({ header, payload }) => {
    const { stream } = header;
    if (stream !== "stdout" && stream !== "stderr") throw new FrameFault("It printed where nothing is read.");
    for await (const bytes of payload) {
      const passed = bytes.subarray(0, left);
      left -= passed.length;
      if (passed.length > 0) host.print(stream, passed);
      if (passed.length < bytes.length) tooMuch();
    }
  };
}

/** Passes on the files that were left. */
function collector(limits: RunLimits, host: RunHost): (frame: Frame) => Promise<void> {
  let files = 0;
  let bytes = 0;
  return async ({ header, size, payload }) => {
    const { path } = header;
    files += 1;
    bytes += size;
    if (typeof path !== "string" || !isInside(path) || /[\0\ufffd]/.test(path))
      throw new FrameFault("A file has no such path.");
    if (files > limits.outputFiles || bytes > limits.diskBytes) throw new FrameFault("It handed out too much.");
    await host.output(path, size, payload);
  };
}

function judge(run: SandboxRun, stopped: Stop | undefined, child: PyodideProcess, { said, end, fault }: Told): RunEnd {
  if (stopped === "cancelled") return { type: "cancelled" };
  if (stopped !== undefined) return { type: "limit", limit: stopped };
  const verdict = child.verdict();
  if (verdict !== undefined) return { type: "limit", limit: verdict };
  if (end?.["stopped"] === "timeout") return { type: "limit", limit: "timeout" };
  if (fault !== undefined) return { type: "crashed", detail: `The program broke the rules: ${fault.message}` };
  if (said?.type === "too-large") return { type: "limit", limit: "output" };
  if (end === undefined) return { type: "crashed", detail: `The sandbox ended without a word. ${child.lastWords()}` };
  if (end["killed"] === "output") return { type: "limit", limit: "output" };
  if (said?.type === "raised" && said.error.type === "MemoryError") return { type: "limit", limit: "memory" };
  if (said !== undefined) return said;
  const exitCode = end["exit_code"];
  if (run.program.type === "script" && Number.isInteger(exitCode))
    return { type: "exited", exitCode: exitCode as number };
  return { type: "crashed", detail: "The program ended without a result." };
}

function runFrame(run: SandboxRun): { type: string; [key: string]: unknown } {
  const { program, limits } = run;
  return {
    type: "run",
    run_id: run.runId,
    deadline_ms: limits.timeoutMs,
    program,
    skills: run.skills.map(({ name, entry }) => ({ name, ...(entry === undefined ? {} : { entry }) })),
    brokered: run.brokered,
    blobs: run.blobs.map(({ id, kind, size }) => ({ id, kind, size_bytes: size })),
    secrets: run.secrets,
    environment: { HOME: "/workspace", LANG: "C.UTF-8", TMPDIR: "/tmp", PYTHONDONTWRITEBYTECODE: "1" },
    roots: {
      skills: "/skills",
      workspace: "/workspace",
      blobs: "/blobs",
      output: "/output",
      temporary: "/tmp",
      project: null,
      packages: null,
    },
    limits: {
      memory_bytes: limits.memoryBytes,
      output_files: limits.outputFiles,
      result_bytes: limits.resultBytes,
    },
    network: false,
  };
}
