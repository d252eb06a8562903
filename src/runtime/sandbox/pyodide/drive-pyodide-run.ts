import type { Writable } from "node:stream";
import { type RunFile, filesOfRun, unfit } from "../directory/private-directory.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import { type Frame, FrameFault, anyOf, createFrameRateLimiter, sendFrame } from "../frames.ts";
import { type ProgramResult, openProgram, passFiles, passPrinted, reportSkippedFiles } from "../drive/serve-run.ts";
import type { PyodideProcess } from "./pyodide-process.ts";
import type { RunEnd, RunHost, SandboxRun } from "../../sandbox.ts";
import { runFrame } from "../drive/drive-run.ts";

type Stop = "timeout" | "cancelled" | "output";

/** The end of a run as received over the single channel. All of it may be forged by the program. */
interface Received {
  end?: Frame["header"];
  fault?: FrameFault;
}

/** How long the child may take to send output files after the timeout; its first thread ends it earlier. */
const graceMs = 2_000;

/**
 * Drives the one run of a prepared child; resolves when the child is dead. What the host observed takes precedence over the exit code of
 * the child's first thread, and this code over what arrives on the channel. Errors of a file's `read` and of `host.output` are passed on.
 */
export async function drivePyodideRun(
  child: PyodideProcess,
  run: SandboxRun,
  files: readonly RunFile[],
  host: RunHost,
  signal: AbortSignal,
  { clock, log }: { clock: Clock; log: Log },
): Promise<RunEnd> {
  let stopped: Stop | undefined;
  const received: Received = {};
  const over = new AbortController();
  const program = openProgram(child.stdin, run, host, over.signal, log);
  const timers: (() => void)[] = [];
  const stop = (reason: Stop): void => {
    stopped ??= reason;
    over.abort();
    child.kill();
  };
  const cancel = (): void => stop("cancelled");
  const timeIsUp = (): void => {
    if (program.result !== undefined || received.end !== undefined) return;
    stopped ??= "timeout";
    over.abort();
    // Unblocks a program that waits for an answer.
    child.stdin.end();
  };
  /** Serves the child until the run is over. Throws a `FrameFault` if the child violates the protocol. */
  const listen = async (): Promise<void> => {
    const print = passPrinted(run.limits, host, () => stop("output"));
    const passFile = passFiles(run.limits, host);
    const pace = createFrameRateLimiter(clock);
    for (let frame = await child.frames.next(); frame !== undefined; frame = await child.frames.next()) {
      await pace(frame, over.signal);
      switch (frame.header.type) {
        case "print": {
          const { stream } = frame.header;
          if (stream !== "stdout" && stream !== "stderr") throw new FrameFault("It printed to an unknown stream.");
          for await (const bytes of frame.payload) print(stream, bytes);
          break;
        }
        case "file":
          if (/[\0\ufffd]/.test(String(frame.header["path"])))
            throw new FrameFault("An output file has an invalid path.");
          await passFile(frame);
          break;
        case "end":
          received.end = frame.header;
          return;
        default:
          // When time is up, calls are not answered any more, and only output files still count.
          if (!(await program.take(frame)) && program.result !== undefined) return;
      }
    }
  };
  signal.addEventListener("abort", cancel, { once: true });
  try {
    sendFrame(child.stdin, { type: "start", limits: { disk_bytes: run.limits.diskBytes } });
    await sendFiles(child.stdin, files);
    if (signal.aborted) return { type: "cancelled" };
    sendFrame(child.stdin, runFrame(run, {}));
    timers.push(clock.after(run.limits.timeoutMs, timeIsUp));
    timers.push(clock.after(run.limits.timeoutMs + graceMs, child.kill));
    await listen().catch((error: unknown) => {
      if (!(error instanceof FrameFault)) throw error;
      received.fault = error;
    });
    over.abort();
    child.kill();
    await child.exited;
    if (received.end !== undefined) reportSkippedFiles(received.end, host);
    return judge(run, stopped, child, received, program.result);
  } finally {
    signal.removeEventListener("abort", cancel);
    over.abort();
    for (const clear of timers) clear();
    child.kill();
    await child.exited;
  }
}

function judge(
  run: SandboxRun,
  stopped: Stop | undefined,
  child: PyodideProcess,
  { end, fault }: Received,
  said: ProgramResult | undefined,
): RunEnd {
  if (stopped === "cancelled") return { type: "cancelled" };
  if (stopped !== undefined) return { type: "limit", limit: stopped };
  const verdict = child.verdict();
  if (verdict !== undefined) return { type: "limit", limit: verdict };
  if (end?.["stopped"] === "timeout") return { type: "limit", limit: "timeout" };
  if (fault !== undefined) return { type: "crashed", detail: `The program violated the protocol: ${fault.message}` };
  if (said?.type === "too-large") return { type: "limit", limit: "output" };
  if (end === undefined)
    return { type: "crashed", detail: `The sandbox exited without a result. ${child.lastWords()}` };
  if (end["killed"] === "output") return { type: "limit", limit: "output" };
  if (said?.type === "raised" && said.error.type === "MemoryError") return { type: "limit", limit: "memory" };
  if (said !== undefined) return said;
  const exitCode = end["exit_code"];
  if (run.program.type === "script" && Number.isInteger(exitCode))
    return { type: "exited", exitCode: exitCode as number };
  return { type: "crashed", detail: "The program exited without a result." };
}

const maxPathBytes = 4_096;

/** The files of a run, with their paths in the sandbox. Throws for an invalid name or a duplicate path. */
export function sandboxFilesOf(run: Pick<SandboxRun, "skills" | "blobs">): readonly RunFile[] {
  const files = filesOfRun(run).map(({ path, alias, ...file }) => {
    return { ...file, path: `/${path}`, ...(alias !== undefined && { alias: `/${alias}` }) };
  });
  checkPaths(files);
  return files;
}

/** Sends files. Throws if a file cannot be read or has a wrong size: the run must not start then. */
export async function sendFiles(stream: Writable, files: readonly RunFile[]): Promise<void> {
  for (const { path, alias, size, read } of files) {
    sendFrame(stream, { type: "file", path, ...(alias === undefined ? {} : { alias }), bytes: size });
    let sent = 0;
    for await (const piece of read()) {
      sent += piece.length;
      if (sent > size) throw unfit(`${path} is larger than declared.`);
      if (!stream.writable) throw unfit("The sandbox exited before it received all files.");
      if (!stream.write(piece)) await anyOf(stream, ["drain", "close"]);
    }
    if (sent !== size) throw unfit(`${path} is smaller than declared.`);
  }
}

function checkPaths(files: readonly RunFile[]): void {
  const taken = new Set<string>();
  const directories = new Set<string>();
  for (const { path } of files) {
    if (Buffer.byteLength(path) > maxPathBytes) throw unfit(`A file path is too long: ${path.slice(0, 100)}…`);
    if (taken.has(path)) throw unfit(`Two files have the path ${JSON.stringify(path)}.`);
    taken.add(path);
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) directories.add(path.slice(0, at));
  }
  for (const path of taken)
    if (directories.has(path)) throw unfit(`${JSON.stringify(path)} is a file and a directory.`);
}
