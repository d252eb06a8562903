import type { Duplex, Writable } from "node:stream";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import { isObject } from "../../../base/json/json-value.ts";
import { isSkillsError } from "../../../base/errors.ts";
import { quoted } from "../../../base/text/quoted.ts";
import {
  type Frame,
  FrameFault,
  callTypes,
  createFrameRateLimiter,
  readFrames,
  requestLimits,
  sendFrame,
} from "../frames.ts";
import type { Json, RunEnd, RunError, RunHost, RunLimits, SandboxRun } from "../../sandbox.ts";

/**
 * Serves the channel of an untrusted program until it ends, and returns its result. Calls `tooMuch` if the result is too large. Throws a
 * `FrameFault` for a protocol violation; `over` abandons a pending call.
 */
export async function serveProgram(
  channel: Duplex,
  run: SandboxRun,
  host: RunHost,
  over: AbortSignal,
  { log, clock, tooMuch }: { log: Log; clock: Clock; tooMuch: () => void },
): Promise<BoundedResult | undefined> {
  const frames = readFrames(channel);
  const pace = createFrameRateLimiter(clock);
  const program = openProgram(channel, run, host, over, log);
  for (let frame = await frames.next(); frame !== undefined; frame = await frames.next()) {
    await pace(frame, over);
    if (!(await program.take(frame))) break;
  }
  if (program.result?.type !== "too-large") return program.result;
  tooMuch();
  return undefined;
}

/** A program that calls its host and reports its result. */
export interface ServedProgram {
  /** Answers a call, or takes the result. False if the run was over before, or the result is too large. Throws a `FrameFault`. */
  take(frame: Frame): Promise<boolean>;
  readonly result: ProgramResult | undefined;
}

/** Opens a program whose calls are answered over `channel`, one at a time. */
export function openProgram(
  channel: Writable,
  run: SandboxRun,
  host: RunHost,
  over: AbortSignal,
  log: Log,
): ServedProgram {
  const abandoned = new Promise<undefined>((resolve) => {
    over.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  let result: ProgramResult | undefined;

  async function answer(frame: Frame): Promise<boolean> {
    if (over.aborted) return false;
    const id = frame.header["id"];
    if (!Number.isSafeInteger(id) || (id as number) < 0) throw new FrameFault("A call has an invalid id.");
    const performed = performCall(frame, run, host, over).then(
      (value) => ({ value }),
      (error: unknown) => {
        if (error instanceof FrameFault) throw error;
        return { error: describeFailure(error, log) };
      },
    );
    const found = await Promise.race([performed, abandoned]);
    if (found === undefined) return false;
    try {
      sendFrame(channel, { type: "reply", id, ...found });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      const tooLarge = { type: "OutputLimitError", message: "The answer is too large." };
      sendFrame(channel, { type: "reply", id, error: tooLarge });
    }
    return true;
  }

  return {
    get result() {
      return result;
    },
    async take(frame) {
      if (result !== undefined) throw new FrameFault("The program continued after its result.");
      if (callTypes.has(frame.header.type)) return await answer(frame);
      switch (frame.header.type) {
        case "returned":
        case "raised":
          result = readResult(frame, run.limits.resultBytes);
          return result.type !== "too-large";
        default:
          throw new FrameFault("The program sent an unknown frame.");
      }
    },
  };
}

async function performCall(frame: Frame, run: SandboxRun, host: RunHost, over: AbortSignal): Promise<Json> {
  if (frame.header.type === "create_blob") {
    const { kind } = frame.header;
    if (typeof kind !== "string" || kind.length > 127) throw new FrameFault("A blob has an invalid kind.");
    return host.createBlob(kind, frame.payload);
  }
  if (frame.header.type === "fetch") return await performFetch(frame, host, over);
  const { name, args } = frame.header;
  if (typeof name !== "string" || args === undefined) throw new FrameFault("A call has no skill name or no arguments.");
  if (!run.brokered.includes(name)) {
    throw Object.assign(new Error("This run may not call that skill."), { type: "PermissionError" });
  }
  return host.callSkill(name, args as Json, over);
}

/** Makes a request for a program. Throws a `FrameFault` for a frame that acp-skills' module in the sandbox would not send. */
async function performFetch({ header, size, payload }: Frame, host: RunHost, over: AbortSignal): Promise<Json> {
  const { url, method, headers, secret, timeout_ms: timeoutMs } = header;
  if (typeof url !== "string" || typeof method !== "string" || typeof secret !== "string")
    throw new FrameFault("A request has no URL, method or secret.");
  if (!Array.isArray(headers) || !headers.every(isPairOfTexts)) throw new FrameFault("A request has invalid headers.");
  if (timeoutMs !== undefined && !Number.isSafeInteger(timeoutMs))
    throw new FrameFault("A request has an invalid time.");
  if (host.fetch === undefined)
    throw Object.assign(new Error("This run may not send secrets."), { type: "PermissionError" });
  if (size > requestLimits.bodyBytes)
    throw Object.assign(new Error(`The body has more than ${requestLimits.bodyBytes} bytes.`), { type: "ValueError" });
  const parts: Uint8Array[] = [];
  for await (const part of payload) parts.push(Buffer.from(part));
  const request = {
    url,
    method,
    headers,
    secret,
    body: Buffer.concat(parts),
    timeoutMs: timeoutMs as number | undefined,
  };
  const answer = await host.fetch(request, over);
  return { status: answer.status, headers: answer.headers, body: Buffer.from(answer.body).toString("base64") };
}

function isPairOfTexts(value: unknown): value is [string, string] {
  return Array.isArray(value) && value.length === 2 && value.every((text) => typeof text === "string");
}

/** The type and message of a failure: neither stacks nor causes reach the program. */
function describeFailure(error: unknown, log: Log): { type: string; message: string; run_id?: string } {
  if (isSkillsError(error)) return { type: error.code, message: error.message };
  const { type, message, runId } = (error ?? {}) as Record<string, unknown>;
  if (typeof message !== "string") {
    log("error", `A call of a program failed: ${String(error)}`);
    return { type: "Error", message: "The call failed." };
  }
  const failure = { type: typeof type === "string" ? type : "Error", message };
  return typeof runId === "string" ? { ...failure, run_id: runId } : failure;
}

/** A result within its limits. */
export type BoundedResult = Extract<RunEnd, { type: "returned" | "raised" }>;

export type ProgramResult = BoundedResult | { readonly type: "too-large" };

const maxBlobs = 10_000;
const maxNotes = 50;
const maxPathLength = 4_096;
const plain = /^[\p{L}\p{N} ._/-]+$/u;
const maxNameLength = 200;
const maxTextLength = 64 * 1024;

/** Validates the result that an untrusted program reports. Throws a `FrameFault` if it is malformed. */
export function readResult({ header, headerBytes, size }: Frame, maxBytes: number): ProgramResult {
  if (size > 0) throw new FrameFault("A result frame has a payload.");
  if (header.type === "raised") return { type: "raised", error: readError(header["error"]) };
  const { value, summary, output_blobs: outputBlobs } = header;
  if (value === undefined) throw new FrameFault("A result frame has no value.");
  if (summary !== undefined && typeof summary !== "string") throw new FrameFault("summary is not a string.");
  if (outputBlobs !== undefined && !isListOfTexts(outputBlobs))
    throw new FrameFault("output_blobs is not a list of strings.");
  // Numbers may become longer: 1e20 has 21 digits.
  if (5 * headerBytes > maxBytes && Buffer.byteLength(JSON.stringify(value)) > maxBytes) return { type: "too-large" };
  return {
    type: "returned",
    value: value as Json,
    ...(summary === undefined ? {} : { summary: cut(summary, maxTextLength) }),
    ...(outputBlobs === undefined ? {} : { outputBlobs }),
  };
}

function readError(error: unknown): RunError {
  if (typeof error !== "object" || error === null) throw new FrameFault("error is not an object.");
  const { type, message, details } = error as Record<string, unknown>;
  if (typeof type !== "string" || typeof message !== "string") throw new FrameFault("error has no type or message.");
  return {
    type: cut(type, maxNameLength),
    message: cut(message, maxTextLength),
    ...(isObject(details) && { details: details as { [key: string]: Json } }),
  };
}

/** Cuts a text. The `…` indicates to the secret mask that a truncated secret may precede it. */
function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= maxBlobs && value.every((item) => typeof item === "string");
}

/** Passes the printed bytes of a program on until they exceed the limit, and then calls `tooMuch`. */
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

/** Passes on the output files that arrive as frames. Throws a `FrameFault` for an invalid path, or if they exceed the limits. */
export function passFiles(limits: RunLimits, host: RunHost): (frame: Frame) => Promise<void> {
  let files = 0;
  let bytes = 0;
  return async ({ header, size, payload }) => {
    const { path } = header;
    files += 1;
    bytes += size;
    if (typeof path !== "string" || path.split("/").some((segment) => ["", ".", ".."].includes(segment)))
      throw new FrameFault("An output file has an invalid path.");
    if (files > limits.outputFiles || bytes > limits.diskBytes)
      throw new FrameFault("The output files exceed the limits.");
    await host.output(path, size, payload);
  };
}

/** Appends to stderr which output files were not saved, and what was removed from the project: unchecked lists of `{path, why}`. */
export function reportSkippedFiles({ skipped, undone }: Frame["header"], host: RunHost): void {
  const toLines = (root: string, notes: unknown, what: string): string[] =>
    notesIn(notes).map(
      ({ path, why }) => `acp-skills: ${root}/${quoted(path, { maxLength: maxPathLength, plain })} ${what}: ${why}.\n`,
    );
  const lines = [...toLines("/output", skipped, "was not saved"), ...toLines("/project", undone, "was removed")];
  if (lines.length > 0) host.print("stderr", Buffer.from(lines.join("")));
}

function notesIn(list: unknown): { path: string; why: string }[] {
  return (Array.isArray(list) ? (list as unknown[]) : []).slice(0, maxNotes).flatMap((note) => {
    const { path, why } = isObject(note) ? note : {};
    return typeof path === "string" && typeof why === "string" ? [{ path, why }] : [];
  });
}
