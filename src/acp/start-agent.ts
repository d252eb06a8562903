import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { SkillsError } from "../errors.ts";
import { endTree } from "./end-tree.ts";

/** How a process ended. After death by signal `exitCode` is what a shell would report. */
export interface ExitStatus {
  readonly exitCode: number;
  readonly signal?: NodeJS.Signals;
}

/** What is started: stdin and stdout are ours, stderr is the parent's. */
export interface AgentCommand {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
}

export interface AgentProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly exited: Promise<ExitStatus>;
  kill(signal: NodeJS.Signals): void;
}

/**
 * Starts an agent; the process is spawned before this returns, except on Windows, where execa finds `.cmd` shims and is loaded
 * for it. Rejects with AGENT_NOT_FOUND or AGENT_NOT_EXECUTABLE.
 */
export async function startAgent(
  agent: AgentCommand,
  platform: NodeJS.Platform = process.platform,
): Promise<AgentProcess> {
  const isWindows = platform === "win32";
  const { child } = isWindows ? await spawnWithExeca(agent) : spawnPlainly(agent);
  const { stdin, stdout } = child;
  const exited = new Promise<ExitStatus>((resolve) => {
    child.once("exit", (code, signal) => {
      resolve(toExitStatus(code, signal));
    });
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.on("error", (error) => {
      reject(toSkillsError(agent, error));
    });
    if (child.pid !== undefined) resolve();
  });
  if (stdin === null || stdout === null) throw new SkillsError("AGENT_NOT_EXECUTABLE", "The agent has no stdio.");
  return {
    stdin,
    stdout,
    exited,
    kill(signal) {
      if (isWindows) endTree(child, signal);
      else child.kill(signal);
    },
  };
}

/** In an object of its own, because execa's process is also a promise, which an async function would wait for. */
interface Spawned {
  readonly child: Pick<ChildProcess, "stdin" | "stdout" | "pid" | "kill" | "once" | "on">;
}

function spawnPlainly({ command, args = [], cwd, env }: AgentCommand): Spawned {
  try {
    return { child: spawn(command, args, { cwd, env, stdio: ["pipe", "pipe", "inherit"] }) };
  } catch (error) {
    // Some faults are thrown instead of emitted: a NUL in an argument, EACCES on some systems.
    throw toSkillsError({ command, cwd }, error);
  }
}

async function spawnWithExeca({ command, args = [], cwd, env }: AgentCommand): Promise<Spawned> {
  const { execa } = await import("execa");
  const child = execa(command, args, {
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env, extendEnv: false }),
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
    buffer: false,
    encoding: "buffer",
    reject: false,
    windowsHide: true,
  });
  if (child.pid === undefined) throw toSkillsError({ command, cwd }, (await child).cause);
  return { child };
}

function toExitStatus(code: number | null, signal: NodeJS.Signals | null): ExitStatus {
  return signal === null ? { exitCode: code ?? 1 } : { exitCode: 128 + constants.signals[signal], signal };
}

function toSkillsError({ command, cwd }: AgentCommand, error: unknown): SkillsError {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const facts = { command, reason: code };
  const where = cwd === undefined ? "" : ` (in ${cwd})`;
  if (code === "ENOENT" || code === "ENOTDIR") {
    const message = `The agent command ${JSON.stringify(command)} was not found${where}. Check its spelling and your PATH.`;
    return new SkillsError("AGENT_NOT_FOUND", message, { cause: error, facts });
  }
  const reason =
    code === "EACCES" ? "it is not an executable file" : error instanceof Error ? error.message : String(error);
  const message = `The agent command ${JSON.stringify(command)} could not be started: ${reason}.`;
  return new SkillsError("AGENT_NOT_EXECUTABLE", message, { cause: error, facts });
}
