import type { Duplex, Writable } from "node:stream";
import { isSkillsError } from "../../errors.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { openFramePace, encodeLongFrame, FrameFault, readFrames, sendFrame, frameLimits } from "../frames/frames.ts";
import type { Frame } from "../frames/frames.ts";
import type { Json, RunHost, SandboxRun, RunEnd, RunError, RunLimits } from "../sandbox.ts";

/**
 * Serves the channel of an untrusted program until it ends: answers its calls one at a time, and returns the result it reports. A
 * result that is too large is reported by `tooMuch`. Throws a `FrameFault` for a protocol violation; `over` abandons a pending call.
 */
export async function serveProgram(
  channel: Duplex,
  run: SandboxRun,
  host: RunHost,
  over: AbortSignal,
  { log, clock, tooMuch }: { log: Log; clock: Clock; tooMuch: () => void },
): Promise<RunResult | undefined> {
  const frames = readFrames(channel);
  const pace = openFramePace(clock);
  const calls = new ProgramCalls(channel, run, host, over, log);
  for (;;) {
    const frame = await frames.next();
    if (frame === undefined) return undefined;
    await pace(frame, over);
    switch (frame.header.type) {
      case "create_blob":
      case "call_skill":
        if (!(await calls.answer(frame))) return undefined;
        break;
      case "returned":
      case "raised": {
        const result = readResult(frame, run.limits.resultBytes);
        if (result.type === "too-large") {
          tooMuch();
          return undefined;
        }
        if ((await frames.next()) !== undefined) throw new FrameFault("The program continued after its result.");
        return result;
      }
      default:
        throw new FrameFault("The program sent an unknown frame.");
    }
  }
}

type Answer = { readonly value: Json } | { readonly error: { type: string; message: string; run_id?: string } };

/** Answers the calls of a program over `channel`. */
export class ProgramCalls {
  readonly #channel: Writable;
  readonly #run: SandboxRun;
  readonly #host: RunHost;
  readonly #over: AbortSignal;
  readonly #log: Log;
  readonly #abandoned: Promise<undefined>;

  constructor(channel: Writable, run: SandboxRun, host: RunHost, over: AbortSignal, log: Log) {
    this.#channel = channel;
    this.#run = run;
    this.#host = host;
    this.#over = over;
    this.#log = log;
    this.#abandoned = new Promise((resolve) => {
      if (over.aborted) resolve(undefined);
      else over.addEventListener("abort", () => resolve(undefined), { once: true });
    });
  }

  /** Answers one call; `false` where the run was over before it was done. Throws a `FrameFault` for an invalid call. */
  async answer(frame: Frame): Promise<boolean> {
    const id = frame.header["id"];
    if (!Number.isSafeInteger(id) || (id as number) < 0) throw new FrameFault("A call has an invalid id.");
    const answer = await Promise.race([this.#perform(frame), this.#abandoned]);
    if (answer === undefined) return false;
    await this.#reply(id, answer);
    return true;
  }

  async #perform(frame: Frame): Promise<Answer> {
    try {
      return { value: await performCall(frame, this.#run, this.#host, this.#over) };
    } catch (error) {
      if (error instanceof FrameFault) throw error;
      return { error: describeFailure(error, this.#log) };
    }
  }

  /** An answer that is too large becomes an error of the program. */
  async #reply(id: unknown, answer: Answer): Promise<void> {
    const channel = this.#channel;
    try {
      const frame = await encodeLongFrame({ type: "reply", id, ...answer });
      if (channel.writable) channel.write(frame);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      const tooLarge = { type: "OutputLimitError", message: "The answer is too large." };
      sendFrame(channel, { type: "reply", id, error: tooLarge });
    }
  }
}

async function performCall(frame: Frame, run: SandboxRun, host: RunHost, over: AbortSignal): Promise<Json> {
  if (frame.header.type === "create_blob") {
    const { kind } = frame.header;
    if (typeof kind !== "string" || kind.length > 127) throw new FrameFault("A blob has an invalid kind.");
    return host.createBlob(kind, frame.payload);
  }
  if (frame.isTooDeep) throw new FrameFault("The arguments of a call are nested too deeply.");
  const { name, args } = frame.header;
  if (typeof name !== "string" || args === undefined) throw new FrameFault("A call has no skill name or no arguments.");
  if (!run.brokered.includes(name)) {
    throw Object.assign(new Error("This run may not call that skill."), { type: "PermissionError" });
  }
  return host.callSkill(name, args as Json, over);
}

/** Type and message only: neither stacks nor causes reach the program. */
function describeFailure(error: unknown, log: Log): { type: string; message: string; run_id?: string } {
  if (isSkillsError(error)) return { type: error.code, message: error.message };
  if (typeof error === "object" && error !== null && "message" in error && typeof error.message === "string") {
    const { message } = error;
    const type = "type" in error && typeof error.type === "string" ? error.type : "Error";
    const runId = "runId" in error && typeof error.runId === "string" ? { run_id: error.runId } : {};
    return { type, message, ...runId };
  }
  log("error", `A call of a program failed: ${String(error)}`);
  return { type: "Error", message: "The call failed." };
}

/** A result within its limits. */
export type RunResult = Extract<RunEnd, { type: "returned" | "raised" }>;

export type ProgramResult = RunResult | { readonly type: "too-large" };

const mostBlobs = 10_000;
const longestName = 200;
const longestText = 64 * 1024;

/** Validates the result that an untrusted program reports. Throws a `FrameFault` if it is malformed. */
export function readResult({ header, headerBytes, isTooDeep, size }: Frame, mostBytes: number): ProgramResult {
  if (size > 0) throw new FrameFault("A result frame has a payload.");
  if (isTooDeep) return { type: "raised", error: tooDeep };
  if (header.type === "raised") return { type: "raised", error: readError(header["error"]) };
  const { value, summary, output_blobs: outputBlobs } = header;
  if (value === undefined) throw new FrameFault("A result frame has no value.");
  if (summary !== undefined && typeof summary !== "string") throw new FrameFault("summary is not a string.");
  if (outputBlobs !== undefined && !isListOfTexts(outputBlobs))
    throw new FrameFault("output_blobs is not a list of strings.");
  const rest = { type: header.type, value: 0, summary, output_blobs: outputBlobs };
  if (headerBytes > mostBytes && headerBytes - Buffer.byteLength(JSON.stringify(rest)) + 1 > mostBytes)
    return { type: "too-large" };
  return {
    type: "returned",
    value: value as Json,
    ...(summary === undefined ? {} : { summary: cut(summary, longestText) }),
    ...(outputBlobs === undefined ? {} : { outputBlobs }),
  };
}

const tooDeep: RunError = {
  type: "OutputLimitError",
  message: `The result is nested deeper than ${frameLimits.depth} levels.`,
};

function readError(error: unknown): RunError {
  if (typeof error !== "object" || error === null) throw new FrameFault("error is not an object.");
  const { type, message, details } = error as Record<string, unknown>;
  if (typeof type !== "string" || typeof message !== "string") throw new FrameFault("error has no type or message.");
  const isObject = typeof details === "object" && details !== null && !Array.isArray(details);
  return {
    type: cut(type, longestName),
    message: cut(message, longestText),
    ...(isObject ? { details: details as { [key: string]: Json } } : {}),
  };
}

/** The `…` tells the secret mask that a truncated secret may precede it. */
function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= mostBlobs && value.every((item) => typeof item === "string");
}

/** Passes on what a program prints until it exceeds its limit, which is reported by `tooMuch`. */
export function passPrinted(
  limits: RunLimits,
  host: RunHost,
  tooMuch: () => void,
): (stream: "stdout" | "stderr", bytes: Uint8Array) => void {
  let left = limits.printedBytes;
  return (stream, bytes) => {
    const passed = bytes.subarray(0, left);
    left -= passed.length;
    if (passed.length > 0) host.print(stream, passed);
    if (passed.length < bytes.length) tooMuch();
  };
}

/** Passes on the output files that arrive as frames. Throws a `FrameFault` for an invalid path, or where they exceed the limits. */
export function passFiles(limits: RunLimits, host: RunHost): (frame: Frame) => Promise<void> {
  let files = 0;
  let bytes = 0;
  return async ({ header, size, payload }) => {
    const { path } = header;
    files += 1;
    bytes += size;
    if (typeof path !== "string" || !isInside(path)) throw new FrameFault("An output file has an invalid path.");
    if (files > limits.outputFiles || bytes > limits.diskBytes)
      throw new FrameFault("The output files exceed the limits.");
    await host.output(path, size, payload);
  };
}

function isInside(path: string): boolean {
  return path.split("/").every((segment) => segment !== "" && segment !== "." && segment !== "..");
}
