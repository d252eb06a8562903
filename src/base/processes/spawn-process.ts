import { type ChildProcess, type ExecFileOptions, type SpawnOptions, execFile, spawn } from "node:child_process";
import { promisify } from "node:util";
import { systemCode } from "../failures/system-error.ts";
import { SkillsError, isSkillsError } from "../errors.ts";

/**
 * Spawns a program synchronously, and listens for `error` first, because an unhandled one ends this process. Rejects with RUNTIME_BUSY if
 * file descriptors, processes or memory ran out, else with the system's error.
 */
export async function spawnProcess(
  file: string,
  args: readonly string[],
  options: SpawnOptions,
): Promise<ChildProcess> {
  const child = trySpawn(file, args, options);
  const failure = new Promise<unknown>((resolve) => child.on("error", resolve));
  // A process that failed to start may lack streams.
  if (child.pid === undefined) throw toSpawnError(file, await failure);
  return child;
}

/** Runs a program and returns its stdout. Rejects like `spawnProcess`, and like execFile if the program fails. */
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

/** Runs a program and returns its stdout; undefined if it fails. Throws only if this machine cannot start more processes. */
export async function askProgram(
  file: string,
  args: readonly string[],
  options: ExecFileOptions = {},
): Promise<string | undefined> {
  try {
    return await runProgram(file, args, options);
  } catch (error) {
    if (isSkillsError(error)) throw error;
    return undefined;
  }
}

/**
 * Starts a program that outlives this process. Returns undefined if it still runs after `patienceMs` milliseconds, or has ended with code
 * 0 or by a signal. Otherwise returns the end of a sentence: why it did not start, or how it failed.
 */
export async function launchProgram(
  program: string,
  args: readonly string[],
  patienceMs: number,
): Promise<string | undefined> {
  return await new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "ignore", detached: true, windowsHide: true });
    const timer = setTimeout(() => resolve(undefined), patienceMs);
    child.once("error", (error) => {
      clearTimeout(timer);
      resolve(systemCode(error) === "ENOENT" ? "is not installed" : `cannot be started (${systemCode(error)})`);
    });
    child.once("exit", (code) => {
      clearTimeout(timer);
      resolve(code === 0 || code === null ? undefined : `ended with code ${code}`);
    });
    child.unref();
  });
}

function trySpawn(file: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  try {
    return spawn(file, args, options);
  } catch (error) {
    // Some errors are thrown instead of emitted: a NUL in an argument, EACCES on some systems.
    throw toSpawnError(file, error);
  }
}

const wants: Readonly<Record<string, string>> = {
  EMFILE: "this process has no file descriptors left",
  ENFILE: "this machine has no file descriptors left",
  EAGAIN: "the process limit of this user is reached",
  ENOMEM: "the machine is out of memory",
};

function toSpawnError(file: string, error: unknown): unknown {
  const code = systemCode(error);
  if (!Object.hasOwn(wants, code)) return error;
  const message = `${JSON.stringify(file)} cannot be started: ${wants[code] ?? code} (${code}).`;
  const hint = "Retry later, or raise the limits of this process (ulimit -n, ulimit -u).";
  return new SkillsError("RUNTIME_BUSY", message, { cause: error, facts: { hint } });
}
