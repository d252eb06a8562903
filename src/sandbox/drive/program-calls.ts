import type { Duplex, Writable } from "node:stream";
import { isSkillsError } from "../../errors.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { openFramePace } from "../frames/frame-pace.ts";
import { encodeLongFrame, FrameFault, readFrames, sendFrame } from "../frames/frames.ts";
import type { Frame } from "../frames/frames.ts";
import { readResult } from "../frames/program-result.ts";
import type { RunResult } from "../frames/program-result.ts";
import type { Json, RunHost, SandboxRun } from "../sandbox.ts";

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
