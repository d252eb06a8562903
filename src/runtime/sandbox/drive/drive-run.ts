import type { Server } from "node:net";
import type { Duplex, Readable } from "node:stream";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import { SkillsError } from "../../../base/errors.ts";
import { type Frame, FrameFault, type FrameReader, encodeFrame, sendFrame } from "../frames.ts";
import type { Roots } from "../directory/private-directory.ts";
import type { RunEnd, RunHost, RunLimits, SandboxRun } from "../../sandbox.ts";
import { type BoundedResult, passFiles, passPrinted, reportSkippedFiles, serveProgram } from "./serve-run.ts";

/** A started sandbox that waits for its one run. */
export interface SandboxProcess {
  /** The id of the outermost process. */
  readonly pid: number | undefined;
  readonly control: Duplex;
  readonly frames: FrameReader;
  readonly program: Duplex;
  /** The output of the program. It ends with the last process of the run, even if the sandbox is still exiting. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly listener: { readonly server: Server; readonly port: number } | undefined;
  /** Resolves when the outermost process is dead; with namespaces, all others are dead by then too. */
  readonly exited: Promise<void>;
  /** The exit code or signal, human-readable. */
  readonly lastWords: () => string;
  kill(): void;
  /** Closes the host's ends of the streams. */
  release(): void;
  /** Sets whether the sandbox keeps this process alive; initially it does not. */
  keepAlive(wanted: boolean): void;
}

/** The properties of the tier that a run frame contains. */
export interface RunFrameContext {
  /** Absent if the sandbox has its own file system: the paths are those of the protocol then. */
  readonly roots?: Roots | undefined;
  readonly proxyPort?: number | undefined;
  /** The URL to which scripts send requests that need a secret. */
  readonly endpoint?: string | undefined;
  readonly outside?: Outside | undefined;
}

/** The environment of a program without a sandbox, which knows the real paths of `roots`. */
export interface Outside {
  readonly environment: Readonly<Record<string, string>>;
  /** Interpreters of scripts; Python is the one of the sandbox. */
  readonly interpreters: { readonly bash: string | null; readonly node: string };
}

type Stop = "timeout" | "cancelled" | "output" | "fault";

/** How long a supervisor may take to kill all processes and exit, before the host kills the sandbox. */
export const supervisorGraceMs = 2_000;

/**
 * Drives the one run of a prepared sandbox; resolves when every process of the run is dead. The sandbox itself may still be exiting, unless
 * it violated the protocol. What the host observed takes precedence over the supervisor's report, and the report over the program's. Errors
 * of `host.output` are passed on. Throws `SANDBOX_UNAVAILABLE` for code or arguments that exceed the limit of a frame.
 */
export async function driveRun(
  sandbox: SandboxProcess,
  run: SandboxRun,
  environment: RunFrameContext,
  host: RunHost,
  signal: AbortSignal,
  { clock, log }: { clock: Clock; log: Log },
): Promise<RunEnd> {
  const task = runFrame(run, environment);
  const encodedTask = encodeTask(task);
  let stopped: Stop | undefined;
  const over = new AbortController();
  const timers: (() => void)[] = [];
  let reported = false;

  const killAfter = (): void => void timers.push(clock.after(supervisorGraceMs, () => sandbox.kill()));
  const stop = (reason: Stop): void => {
    if (stopped !== undefined) return;
    stopped = reason;
    sendFrame(sandbox.control, { type: "stop" });
    killAfter();
  };
  const cancel = (): void => stop("cancelled");
  const tooMuch = (): void => stop("output");
  const clearTimers = (): void => {
    for (const clear of timers.splice(0)) clear();
  };
  /** Passes output files to the host, and returns the supervisor's report if there is one. Throws errors of `host.output`, too. */
  const readReport = async (): Promise<Frame["header"] | undefined> => {
    const passFile = passFiles(run.limits, host);
    for (;;) {
      const frame = await sandbox.frames.next();
      // From the first frame on, every process of the run is dead.
      clearTimers();
      if (frame === undefined || frame.header.type === "end") return frame?.header;
      if (frame.header.type === "dead") continue;
      if (frame.header.type !== "file") throw new FrameFault("It sent an unknown frame.");
      await passFile(frame);
    }
  };

  sandbox.keepAlive(true);
  const printed = passOutput(sandbox, run.limits, host, tooMuch);
  sendFrame(sandbox.control, { type: "start", roots: task["roots"], limits: task["limits"] });
  sandbox.program.write(encodedTask);
  timers.push(clock.after(run.limits.timeoutMs, () => stop("timeout")));
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();

  const said = serveProgram(sandbox.program, run, host, over.signal, { log, clock, tooMuch }).catch(
    (error: unknown) => {
      // A program that violates the protocol is killed.
      stop("fault");
      return error instanceof FrameFault ? error : new FrameFault(String(error));
    },
  );
  try {
    const report = await readReport().catch((error: unknown) => {
      if (error instanceof FrameFault) return error;
      throw error;
    });
    killAfter();
    over.abort();
    reported = report !== undefined && !(report instanceof FrameFault);
    if (!reported) await sandbox.exited;
    await printed;
    if (report !== undefined && !(report instanceof FrameFault)) reportSkippedFiles(report, host);
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

function encodeTask(task: Frame["header"]): Buffer {
  try {
    return encodeFrame(task);
  } catch (error) {
    throw new SkillsError("SANDBOX_UNAVAILABLE", `The run is too large. ${String(error)}`, { cause: error });
  }
}

/** Passes printed bytes on until they exceed the limit; resolves when nothing more can arrive. */
function passOutput(sandbox: SandboxProcess, limits: RunLimits, host: RunHost, tooMuch: () => void): Promise<unknown> {
  const pass = passPrinted(limits, host, tooMuch);
  const ends = (["stdout", "stderr"] as const).map(
    (name) =>
      new Promise<void>((resolve) => {
        const stream = sandbox[name];
        stream.on("data", (bytes: Buffer) => pass(name, bytes)).on("close", resolve);
        // A program that exited early may have closed the stream before.
        if (stream.closed) resolve();
      }),
  );
  return Promise.all(ends);
}

function judge(
  run: SandboxRun,
  stopped: Stop | undefined,
  report: Frame["header"] | FrameFault | undefined,
  said: BoundedResult | FrameFault | undefined,
  lastWords: string,
): RunEnd {
  if (stopped === "cancelled") return { type: "cancelled" };
  if (stopped !== undefined && stopped !== "fault") return { type: "limit", limit: stopped };
  if (report instanceof FrameFault)
    return { type: "crashed", detail: `The supervisor violated the protocol: ${report.message}` };
  if (report === undefined) return { type: "crashed", detail: `The sandbox exited without a result. ${lastWords}` };
  const { killed } = report;
  if (killed === "memory" || killed === "processes" || killed === "disk" || killed === "output")
    return { type: "limit", limit: killed };
  if (said instanceof FrameFault)
    return { type: "crashed", detail: `The program violated the protocol: ${said.message}` };
  if (said?.type === "raised" && said.error.type === "MemoryError") return { type: "limit", limit: "memory" };
  if (said !== undefined) return said;
  const exitCode = typeof report["exit_code"] === "number" ? report["exit_code"] : -1;
  if (run.program.type === "script") return { type: "exited", exitCode };
  return { type: "crashed", detail: `The program exited without a result; exit code ${exitCode}.` };
}

const protocolRoots = {
  skills: "/skills",
  workspace: "/workspace",
  blobs: "/blobs",
  output: "/output",
  temporary: "/tmp",
} as const;
const mebibyte = 1024 * 1024;
const gibibyte = 1024 * mebibyte;
/** The supervisor's limit is exact; the kernel's limit per process is higher by this margin. */
const memoryMargin = 256 * mebibyte;
/** V8 reserves more memory than it uses. */
const nodeMargin = 2 * gibibyte;
const addressMargin = 4 * gibibyte;
const nodeAddresses = 128 * gibibyte;
const openFiles = 256;
const processors = 64;

/** The header of the frame that starts the program. */
export function runFrame(run: SandboxRun, { roots, proxyPort, endpoint, outside }: RunFrameContext): Frame["header"] {
  const { program, limits, project, packages } = run;
  const { memoryBytes, processes } = limits;
  const isNode = program.type === "script" && program.language === "node";
  const at = roots ?? {
    ...protocolRoots,
    project: project === undefined ? null : "/project",
    packages: packages === undefined ? null : "/packages",
  };
  return {
    type: "run",
    run_id: run.runId,
    deadline_ms: limits.timeoutMs,
    program,
    skills: run.skills.map(({ name, entry }) => ({ name, entry })),
    brokered: run.brokered,
    blobs: run.blobs.map(({ id, kind, size }) => ({ id, kind, size_bytes: size })),
    secrets: run.secrets,
    ...(run.uses !== undefined && { uses: run.uses }),
    environment: {
      ...environmentOf(at, proxyPort),
      ...(endpoint !== undefined && { ACP_SKILLS_FETCH_URL: endpoint }),
      ...outside?.environment,
    },
    roots: at,
    ...(outside !== undefined && { outside: outside.interpreters }),
    limits: {
      memory_bytes: memoryBytes,
      processes,
      // Processes and threads: runtimes such as Node start a dozen threads.
      tasks: 2 * processes + 32,
      disk_bytes: limits.diskBytes,
      output_files: limits.outputFiles,
      result_bytes: limits.resultBytes,
      cpu_seconds: Math.ceil(limits.timeoutMs / 1000) * processors,
      open_files: openFiles,
      data_bytes: memoryBytes + (isNode ? nodeMargin : memoryMargin),
      address_bytes: isNode ? nodeAddresses : memoryBytes + addressMargin,
    },
  };
}

function environmentOf({ workspace, temporary }: Roots, proxyPort: number | undefined): Record<string, string> {
  const environment = {
    // Directories that a tier does not have are skipped; the last one has Node.
    PATH: "/usr/local/bin:/usr/bin:/bin:/opt/node/bin",
    HOME: workspace,
    LANG: "C.UTF-8",
    TMPDIR: temporary,
    PYTHONDONTWRITEBYTECODE: "1",
  };
  if (proxyPort === undefined) return environment;
  const proxy = `http://127.0.0.1:${proxyPort}`;
  return { ...environment, HTTP_PROXY: proxy, HTTPS_PROXY: proxy, http_proxy: proxy, https_proxy: proxy };
}
