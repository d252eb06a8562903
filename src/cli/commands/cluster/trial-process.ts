import { once } from "node:events";
import type { SpawnOptions } from "node:child_process";
import { SkillsError } from "../../../base/errors.ts";
import { systemClock } from "../../../base/clock.ts";
import { spawnProcess } from "../../../base/processes/spawn-process.ts";
import path from "node:path";

/** A process that is ready. */
export interface TrialProcess {
  readonly pid: number;
  /** What `ready` found. */
  readonly found: RegExpExecArray;
  /** Ends it at once, as a crash does. */
  readonly kill: () => void;
  /** Asks it to end, and ends it if it does not within 15 s. Never rejects. */
  readonly stop: (by?: NodeJS.Signals) => Promise<void>;
}

const readyWithinMs = 60_000;
const stopsWithinMs = 15_000;
const mostText = 64 * 1_024;

/** Starts a process and waits until what it prints on stderr matches `ready`. Rejects with ENDPOINT_UNREACHABLE and its last line. */
export async function startTrialProcess(
  file: string,
  args: readonly string[],
  { ready, signal, ...options }: SpawnOptions & { readonly ready: RegExp; readonly signal: AbortSignal },
): Promise<TrialProcess> {
  signal.throwIfAborted();
  const child = await spawnProcess(file, args, { ...options, stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(child, "exit");
  const stop = async (by: NodeJS.Signals = "SIGTERM"): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(by);
    const cancel = systemClock.after(stopsWithinMs, () => child.kill("SIGKILL"));
    await ended.catch(() => undefined);
    cancel();
  };
  let text = "";
  try {
    const found = await new Promise<RegExpExecArray>((resolve, reject) => {
      const fail = (why: string): void => {
        const [last = ""] = text.trim().split("\n").slice(-1);
        reject(new SkillsError("ENDPOINT_UNREACHABLE", `${path.basename(file)} ${args[1] ?? ""} ${why}: ${last}`));
      };
      child.stderr?.setEncoding("utf8").on("data", (piece: string) => {
        text = (text + piece).slice(-mostText);
        const match = ready.exec(text);
        if (match !== null) resolve(match);
      });
      void ended.then(() => fail("ended"));
      systemClock.after(readyWithinMs, () => fail("did not start within a minute"));
      const abort = (): void => reject(signal.reason as Error);
      if (signal.aborted) abort();
      signal.addEventListener("abort", abort, { once: true });
    });
    return { pid: child.pid ?? 0, found, kill: () => void child.kill("SIGKILL"), stop };
  } catch (error) {
    await stop("SIGKILL");
    throw error;
  }
}
