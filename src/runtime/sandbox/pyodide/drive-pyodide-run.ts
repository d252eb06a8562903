import { once } from "node:events";
import type { Writable } from "node:stream";
import { type RunFile, filesOfRun, unfit } from "../directory/private-directory.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import { type Frame, FrameFault, createFrameRateLimiter, sendFrame } from "../frames.ts";
import {
  type ProgramResult,
  answerCalls,
  passFiles,
  passPrinted,
  readResult,
  reportSkippedFiles,
} from "../drive/serve-run.ts";
import type { PyodideProcess } from "./pyodide-process.ts";
import type { RunEnd, RunHost, SandboxRun } from "../../sandbox.ts";
import { runFrame } from "../drive/drive-run.ts";

type Stop = "timeout" | "cancelled" | "output";

/** What arrived over the single channel. All of it may be forged by the program. */
interface Received {
  said?: ProgramResult;
  end?: Frame["header"];
  fault?: FrameFault;
}

/** How long the child may take to send output files after the timeout; its first thread ends it earlier. */
const graceMs = 2_000;

/**
 * Drives the one run of a prepared child; resolves when it is dead. What the host observed takes precedence over the exit code of the
 * child's first thread, and that over what arrives on the channel. Errors of a file's `read` and of `host.output` are passed on.
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
  const timers: (() => void)[] = [];
  const stop = (reason: Stop): void => {
    stopped ??= reason;
    over.abort();
    child.kill();
  };
  const cancel = (): void => stop("cancelled");
  const timeIsUp = (): void => {
    if (received.said !== undefined || received.end !== undefined) return;
    stopped ??= "timeout";
    over.abort();
    // Unblocks a program that waits for an answer.
    child.stdin.end();
  };
  signal.addEventListener("abort", cancel, { once: true });
  try {
    sendFrame(child.stdin, { type: "start", limits: { disk_bytes: run.limits.diskBytes } });
    await sendFiles(child.stdin, files);
    if (signal.aborted) return { type: "cancelled" };
    sendFrame(child.stdin, runFrame(run, {}));
    timers.push(clock.after(run.limits.timeoutMs, timeIsUp));
    timers.push(clock.after(run.limits.timeoutMs + graceMs, child.kill));
    await listen(child, run, host, over.signal, { received, log, clock, tooMuch: () => stop("output") });
    over.abort();
    child.kill();
    await child.exited;
    if (received.end !== undefined) reportSkippedFiles(received.end, host);
    return judge(run, stopped, child, received);
  } finally {
    signal.removeEventListener("abort", cancel);
    over.abort();
    for (const clear of timers) clear();
    child.kill();
    await child.exited;
  }
}

/** Serves the child until the run is over or violates the protocol. */
async function listen(
  { frames, stdin }: PyodideProcess,
  run: SandboxRun,
  host: RunHost,
  over: AbortSignal,
  { received, log, clock, tooMuch }: { received: Received; log: Log; clock: Clock; tooMuch: () => void },
): Promise<void> {
  const answer = answerCalls(stdin, run, host, over, log);
  const print = passPrinted(run.limits, host, tooMuch);
  const passFile = passFiles(run.limits, host);
  const pace = createFrameRateLimiter(clock);
  try {
    for (let frame = await frames.next(); frame !== undefined; frame = await frames.next()) {
      await pace(frame, over);
      switch (frame.header.type) {
        case "print": {
          const { stream } = frame.header;
          if (stream !== "stdout" && stream !== "stderr") throw new FrameFault("It printed to an unknown stream.");
          for await (const bytes of frame.payload) print(stream, bytes);
          break;
        }
        case "create_blob":
        case "call_skill":
          if (received.said !== undefined) throw new FrameFault("The program continued after its result.");
          // When time is up, only output files still count.
          if (!over.aborted) await answer(frame);
          break;
        case "returned":
        case "raised":
          if (received.said !== undefined) throw new FrameFault("The program continued after its result.");
          received.said = readResult(frame, run.limits.resultBytes);
          if (received.said.type === "too-large") return;
          break;
        case "file":
          if (/[\0\ufffd]/.test(String(frame.header["path"])))
            throw new FrameFault("An output file has an invalid path.");
          await passFile(frame);
          break;
        case "end":
          received.end = frame.header;
          return;
        default:
          throw new FrameFault("It sent an unknown frame.");
      }
    }
  } catch (error) {
    if (!(error instanceof FrameFault)) throw error;
    received.fault = error;
  }
}

function judge(
  run: SandboxRun,
  stopped: Stop | undefined,
  child: PyodideProcess,
  { said, end, fault }: Received,
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

const mostPathBytes = 4_096;

/** The files of a run, with their paths in the sandbox. Throws for an invalid name or a duplicate path. */
export function sandboxFilesOf(run: Pick<SandboxRun, "skills" | "blobs">): readonly RunFile[] {
  const files = filesOfRun(run).map(({ path, alias, ...file }) => {
    return { ...file, path: `/${path}`, ...(alias !== undefined && { alias: `/${alias}` }) };
  });
  checkPlaces(files);
  return files;
}

/** Sends files. Throws if one cannot be read or has a wrong size: then the run must not start. */
export async function sendFiles(stream: Writable, files: readonly RunFile[]): Promise<void> {
  for (const { path, alias, size, read } of files) {
    sendFrame(stream, { type: "file", path, ...(alias === undefined ? {} : { alias }), bytes: size });
    let sent = 0;
    for await (const piece of read()) {
      sent += piece.length;
      if (sent > size) throw unfit(`${path} is larger than declared.`);
      if (!stream.writable) throw unfit("The sandbox exited before it received all files.");
      if (!stream.write(piece)) await drained(stream);
    }
    if (sent !== size) throw unfit(`${path} is smaller than declared.`);
  }
}

function checkPlaces(files: readonly RunFile[]): void {
  const taken = new Set<string>();
  const directories = new Set<string>();
  for (const { path } of files) {
    if (Buffer.byteLength(path) > mostPathBytes) throw unfit(`A file path is too long: ${path.slice(0, 100)}…`);
    if (taken.has(path)) throw unfit(`Two files have the path ${JSON.stringify(path)}.`);
    taken.add(path);
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) directories.add(path.slice(0, at));
  }
  for (const path of taken)
    if (directories.has(path)) throw unfit(`${JSON.stringify(path)} is a file and a directory.`);
}

/** Resolves when more can be written or the stream is closed. */
async function drained(stream: Writable): Promise<void> {
  const settled = new AbortController();
  const wait = (event: string): Promise<unknown> =>
    once(stream, event, { signal: settled.signal }).catch(() => undefined);
  await Promise.race([wait("drain"), wait("close")]);
  settled.abort();
}
