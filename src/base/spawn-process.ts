import { execFile, spawn } from "node:child_process";
import type { ChildProcess, ExecFileOptions, SpawnOptions } from "node:child_process";
import { promisify } from "node:util";
import { SkillsError } from "../errors.ts";

/**
 * Starts a program, and listens for its `error` before anything else, because one that nobody hears ends this process. The process is
 * started before this returns. Rejects where it cannot be: with RUNTIME_BUSY for want of file descriptors, processes or memory,
 * else with the error of the system.
 */
export async function spawnProcess(
  file: string,
  args: readonly string[],
  options: SpawnOptions,
): Promise<ChildProcess> {
  const child = trySpawn(file, args, options);
  const failure = new Promise<unknown>((resolve) => child.on("error", resolve));
  // Such a process may have no streams either.
  if (child.pid === undefined) throw toSpawnError(file, await failure);
  return child;
}

/** Runs a program to its end, and answers what it printed. Rejects as `spawnProcess` does, and as execFile where the program fails. */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: ExecFileOptions = {},
): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(file, [...args], { ...options, encoding: "utf8" });
    return stdout;
  } catch (error) {
    throw toSpawnError(file, error);
  }
}

function trySpawn(file: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  try {
    return spawn(file, args, options);
  } catch (error) {
    // Some faults are thrown instead of emitted: a NUL in an argument, EACCES on some systems.
    throw toSpawnError(file, error);
  }
}

const wants: Readonly<Record<string, string>> = {
  EMFILE: "this process has no file descriptors left",
  ENFILE: "this machine has no file descriptors left",
  EAGAIN: "this user may have no more processes",
  ENOMEM: "this machine has no memory left",
};

function toSpawnError(file: string, error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (!Object.hasOwn(wants, code)) return error;
  const message = `${JSON.stringify(file)} cannot be started now: ${wants[code] ?? code} (${code}).`;
  const hint = "Try again later; a person can raise the limits of this process (ulimit -n, ulimit -u).";
  return new SkillsError("RUNTIME_BUSY", message, { cause: error, facts: { hint } });
}
