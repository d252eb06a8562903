import type { Server } from "node:net";
import type { Duplex, Readable } from "node:stream";
import type { FrameReader, Frame } from "../frames/frames.ts";
import type { Clock } from "../../base/clock.ts";
import { SkillsError } from "../../errors.ts";
import type { Log } from "../../base/log.ts";
import { encodeLongFrame, FrameFault, sendFrame } from "../frames/frames.ts";
import type { RunEnd, RunHost, RunLimits, SandboxRun, Tier } from "../sandbox.ts";
import { passPrinted, serveProgram, passFiles } from "./serve-run.ts";
import type { RunResult } from "./serve-run.ts";

/** A started sandbox that waits for its one run. */
export interface SandboxProcess {
  /** Of the outermost process. */
  readonly pid: number | undefined;
  readonly control: Duplex;
  readonly frames: FrameReader;
  readonly program: Duplex;
  /** What the program prints. They end with the last process of the run, even if the sandbox is still exiting. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly listener: { readonly server: Server; readonly port: number } | undefined;
  /** Resolves when the outermost process is dead; with namespaces, all others are dead by then too. */
  readonly exited: Promise<void>;
  /** Exit code or signal; for people. */
  readonly lastWords: () => string;
  kill(): void;
  /** Closes our ends. */
  release(): void;
  /** Whether it keeps this process alive. Initially it does not. */
  keepAlive(wanted: boolean): void;
}

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

const mostNotes = 50;

/** What the supervisor observed. */
export interface SupervisorReport {
  /** 128 plus the signal number for a program that was killed, as in shells. */
  readonly exitCode: number;
  readonly killed?: "memory" | "processes" | "disk" | "output";
  /** Output files that were not kept, as a list of `{path, why}`. Unchecked. */
  readonly skipped: unknown;
}

/**
 * Reads the supervisor's report after the run, and passes the output files to the host. Returns the fault of an invalid report, and
 * `undefined` if there is none. Errors of `host.output` are passed on.
 */
export async function serveSupervisor(
  frames: FrameReader,
  limits: RunLimits,
  host: RunHost,
  allAreDead: () => void,
): Promise<SupervisorReport | FrameFault | undefined> {
  const passFile = passFiles(limits, host);
  try {
    for (;;) {
      const frame = await frames.next();
      allAreDead();
      if (frame === undefined) return undefined;
      if (frame.header.type === "end") return readReport(frame);
      if (frame.header.type !== "file") throw new FrameFault("It sent an unknown frame.");
      await passFile(frame);
    }
  } catch (error) {
    if (error instanceof FrameFault) return error;
    throw error;
  }
}

function readReport({ header }: Frame): SupervisorReport {
  const { exit_code: exitCode, signal, killed, skipped } = header;
  return {
    exitCode: typeof signal === "number" ? 128 + signal : typeof exitCode === "number" ? exitCode : -1,
    ...(isLimit(killed) ? { killed } : {}),
    skipped,
  };
}

/** Appends to stderr why output files were not kept. */
export function tellSkipped(skipped: unknown, host: RunHost): void {
  const notes: unknown[] = Array.isArray(skipped) ? skipped.slice(0, mostNotes) : [];
  const lines = notes
    .filter(isNote)
    .map(({ path, why }) => `acp-skills: /output/${quoted(path)} was not kept: ${why}.\n`);
  if (lines.length > 0) host.print("stderr", Buffer.from(lines.join("")));
}

function isNote(note: unknown): note is { path: string; why: string } {
  const { path, why } = (note ?? {}) as Record<string, unknown>;
  return typeof path === "string" && typeof why === "string";
}

/** Names with unusual characters are shown as JSON. */
function quoted(path: string): string {
  return /^[\p{L}\p{N} ._/-]+$/u.test(path) ? path : JSON.stringify(path);
}

function isLimit(killed: unknown): killed is NonNullable<SupervisorReport["killed"]> {
  return killed === "memory" || killed === "processes" || killed === "disk" || killed === "output";
}

/** Paths inside the sandbox. */
interface Roots {
  readonly skills: string;
  readonly workspace: string;
  readonly blobs: string;
  readonly output: string;
  readonly temporary: string;
  readonly project: string | null;
  readonly packages: string | null;
}

/** What a run frame needs to know about the tier. */
export interface Surroundings {
  readonly tier: Tier;
  readonly roots: Roots;
  /** For scripts; absent where they run in the same interpreter. */
  readonly interpreters?: { readonly python: string; readonly bash: string; readonly node: string };
  readonly environment: Readonly<Record<string, string>>;
  readonly proxyPort: number | undefined;
}

const megabyte = 1024 * 1024;
const gigabyte = 1024 * megabyte;
const openFiles = 256;
/** The supervisor's limit is exact; the kernel's limits per process are higher. */
const memoryMargin = 256 * megabyte;
/** V8 reserves more memory than it uses. */
const nodeMargin = 2 * gigabyte;
const addressMargin = 4 * gigabyte;
const nodeAddresses = 128 * gigabyte;
const processors = 64;

/** Starts the supervisor's watch. */
export function startFrame({ limits }: SandboxRun, { tier, roots }: Surroundings): Frame["header"] {
  return {
    type: "start",
    tier,
    roots,
    limits: {
      memory_bytes: limits.memoryBytes,
      processes: limits.processes,
      tasks: tasksOf(limits),
      disk_bytes: limits.diskBytes,
      output_files: limits.outputFiles,
    },
  };
}

/** Starts the program. */
export function runFrame(run: SandboxRun, surroundings: Surroundings): Frame["header"] {
  const { program, limits } = run;
  const { roots, interpreters } = surroundings;
  const isNode = program.type === "script" && program.language === "node";
  return {
    type: "run",
    run_id: run.runId,
    deadline_ms: limits.timeoutMs,
    program:
      program.type === "script" && interpreters !== undefined
        ? { ...program, interpreter: interpreters[program.language] }
        : program,
    skills: run.skills.map(({ name, entry }) => ({ name, ...(entry === undefined ? {} : { entry }) })),
    brokered: run.brokered,
    blobs: run.blobs.map(({ id, kind, size }) => ({ id, kind, size_bytes: size })),
    secrets: run.secrets,
    environment: environmentOf(surroundings),
    roots,
    limits: {
      memory_bytes: limits.memoryBytes,
      processes: limits.processes,
      tasks: tasksOf(limits),
      file_bytes: limits.diskBytes,
      cpu_seconds: Math.ceil(limits.timeoutMs / 1000) * processors,
      open_files: openFiles,
      result_bytes: limits.resultBytes,
      output_files: limits.outputFiles,
      data_bytes: limits.memoryBytes + (isNode ? nodeMargin : memoryMargin),
      address_bytes: isNode ? nodeAddresses : limits.memoryBytes + addressMargin,
    },
    network: surroundings.proxyPort !== undefined,
  };
}

/** Processes and threads: runtimes such as Node start a dozen threads. */
function tasksOf({ processes }: RunLimits): number {
  return 2 * processes + 32;
}

function environmentOf({ environment, proxyPort }: Surroundings): Record<string, string> {
  if (proxyPort === undefined) return { ...environment };
  const proxy = `http://127.0.0.1:${proxyPort}`;
  return { ...environment, HTTP_PROXY: proxy, HTTPS_PROXY: proxy, http_proxy: proxy, https_proxy: proxy };
}
