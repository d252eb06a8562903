import type { SpawnOptions } from "node:child_process";
import path from "node:path";
import { SkillsError } from "../../../base/errors.ts";
import { systemClock, withinTime } from "../../../base/clock.ts";
import { spawnProcess } from "../../../base/processes/spawn-process.ts";
import { unlessAborted } from "../../../base/promises.ts";

/** A process that is ready. */
export interface TrialProcess {
  readonly pid: number;
  /** The match of `ready` in the output. */
  readonly found: RegExpExecArray;
  /** Asks the process to end, and kills it after 15 s; SIGKILL ends it at once, like a crash. Never rejects. */
  readonly stop: (by?: NodeJS.Signals) => Promise<void>;
}

const readyWithinMs = 60_000;
const stopsWithinMs = 15_000;
const maxTextLength = 64 * 1_024;

/** Starts a process, and waits until its stderr matches `ready`. Rejects with ENDPOINT_UNREACHABLE and the last line of stderr. */
export async function startTrialProcess(
  file: string,
  args: readonly string[],
  { ready, signal, ...options }: SpawnOptions & { readonly ready: RegExp; readonly signal: AbortSignal },
): Promise<TrialProcess> {
  signal.throwIfAborted();
  const child = await spawnProcess(file, args, { ...options, stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise<undefined>((resolve) => child.once("exit", () => resolve(undefined)));
  const stop = async (by: NodeJS.Signals = "SIGTERM"): Promise<void> => {
    child.kill(by);
    await withinTime(ended, systemClock, stopsWithinMs);
    child.kill("SIGKILL");
    await ended;
  };
  let text = "";
  const matched = new Promise<RegExpExecArray>((resolve) => {
    child.stderr?.setEncoding("utf8").on("data", (piece: string) => {
      text = (text + piece).slice(-maxTextLength);
      const match = ready.exec(text);
      if (match !== null) resolve(match);
    });
  });
  try {
    const found = await unlessAborted(withinTime(Promise.race([matched, ended]), systemClock, readyWithinMs), signal);
    if (found !== undefined) return { pid: child.pid ?? 0, found, stop };
    const why = (child.exitCode ?? child.signalCode) === null ? "did not start within a minute" : "ended";
    const [last = ""] = text.trim().split("\n").slice(-1);
    throw new SkillsError("ENDPOINT_UNREACHABLE", `${path.basename(file)} ${args[1] ?? ""} ${why}: ${last}`);
  } catch (error) {
    await stop("SIGKILL");
    throw error;
  }
}
