import type { ChildProcess } from "node:child_process";
import { statSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, join, resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { shellWord } from "../../base/text/quoted.ts";
import { attempt, systemCode } from "../../base/failures/system-error.ts";
import type { Clock } from "../../base/clock.ts";
import { runProgram, spawnProcess } from "../../base/processes/spawn-process.ts";
import { isSkillsError, SkillsError } from "../../base/errors.ts";
import { createProcessTree } from "../../base/processes/process-tree.ts";

/** The exit code or signal with which a process ended. After a signal, `exitCode` is the number that a shell would report. */
export interface ExitStatus {
  readonly exitCode: number;
  readonly signal?: NodeJS.Signals;
}

/** The command that starts an agent. Its stdin and stdout are pipes; its stderr is inherited. */
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
  /** Signals the agent only. */
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Signals the agent and all its descendants. */
  readonly killTree: (signal: NodeJS.Signals) => void;
  /** Records the agent's descendants, because a launcher may exit before its program. */
  readonly updateTree: () => void;
  /** Ends the descendants that outlive the agent. Never rejects. */
  readonly endRest: (clock: Clock, hurry: Promise<void>) => Promise<void>;
}

/**
 * Starts an agent. The process is spawned before this returns, except on Windows: there, execa is loaded first, because it finds `.cmd`
 * shims. Rejects with AGENT_NOT_FOUND or AGENT_NOT_EXECUTABLE.
 */
export async function startAgent(
  agent: AgentCommand,
  platform: NodeJS.Platform = process.platform,
): Promise<AgentProcess> {
  const isWindows = platform === "win32";
  const { child } = isWindows ? await spawnWithExeca(agent) : await spawnPlainly(agent);
  const { stdin, stdout } = child;
  const exited = new Promise<ExitStatus>((resolve) => {
    child.once("exit", (code, signal) => resolve(toExitStatus(code, signal)));
  });
  const tree = isWindows || child.pid === undefined ? undefined : createProcessTree(child.pid);
  if (stdin === null || stdout === null) throw new SkillsError("AGENT_NOT_EXECUTABLE", "The agent has no stdio.");
  return {
    stdin,
    stdout,
    exited,
    kill(signal) {
      if (tree === undefined) endTree(child, signal);
      // The descendants can be found only while the agent runs.
      else void tree.update().then(() => child.kill(signal));
    },
    killTree(signal) {
      if (tree === undefined) endTree(child, signal);
      else
        void tree.update().then(() => {
          child.kill(signal);
          tree.signalBelow(signal);
        });
    },
    updateTree: () => void tree?.update(),
    endRest: async (clock, hurry) => await tree?.endRest(clock, hurry),
  };
}

/** A spawned process, wrapped in an object: execa's process is also a promise, which an async function would await. */
interface Spawned {
  readonly child: Pick<ChildProcess, "stdin" | "stdout" | "pid" | "kill" | "once" | "on">;
}

async function spawnPlainly({ command, args = [], cwd, env }: AgentCommand): Promise<Spawned> {
  try {
    return { child: await spawnProcess(command, args, { cwd, env, stdio: ["pipe", "pipe", "inherit"] }) };
  } catch (error) {
    throw toSkillsError({ command, cwd, env }, error);
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

function toSkillsError({ command, cwd, env }: AgentCommand, error: unknown): SkillsError {
  if (isSkillsError(error)) return new SkillsError("AGENT_NOT_EXECUTABLE", error.message, { cause: error });
  const code = systemCode(error);
  const facts = { command, reason: code === "" ? undefined : code };
  const where = cwd === undefined ? "" : ` (in ${cwd})`;
  if (code === "ENOENT" || code === "ENOTDIR") {
    const message = `The agent command ${JSON.stringify(command)} was not found${where}. Check its spelling and your PATH.`;
    return new SkillsError("AGENT_NOT_FOUND", message, { cause: error, facts });
  }
  const file = code === "EACCES" && process.platform !== "win32" ? findNotExecutable({ command, cwd, env }) : undefined;
  const hint = file && `chmod +x ${shellWord(file)}`;
  const reason =
    code === "EACCES" ? "it is not an executable file" : error instanceof Error ? error.message : String(error);
  const message = `The agent command ${JSON.stringify(command)} could not be started: ${reason}.`;
  return new SkillsError("AGENT_NOT_EXECUTABLE", message, { cause: error, facts: { ...facts, hint } });
}

/** Finds the file that a command names, if the file lacks only the permission to execute. */
function findNotExecutable({ command, cwd = "", env = process.env }: AgentCommand): string | undefined {
  const directories = command.includes("/") ? [""] : (env["PATH"] ?? "").split(delimiter);
  return directories.map((directory) => resolve(cwd, directory, command)).find(lacksPermission);
}

function lacksPermission(path: string): boolean {
  // The result is undefined if the file is absent or not accessible.
  const stats = attempt(() => statSync(path), undefined);
  return stats?.isFile() === true && (stats.mode & 0o111) === 0;
}

/**
 * Ends a process on Windows with all its descendants: a `.cmd` shim runs its program as a child of cmd.exe. If taskkill fails, only the
 * process itself is killed.
 */
export function endTree(child: Pick<ChildProcess, "pid" | "kill">, signal: NodeJS.Signals): void {
  // taskkill is run by its full path: Windows searches the current directory, which is the user's project, first.
  const taskkill = join(process.env["SystemRoot"] ?? "C:\\Windows", "System32", "taskkill.exe");
  runProgram(taskkill, ["/pid", String(child.pid), "/T", "/F"], { windowsHide: true }).catch(() => child.kill(signal));
}

/** The fields of `process` that are needed. */
interface EndingProcess {
  exitCode?: number | string | null | undefined;
  readonly pid: number;
  kill(pid: number, signal: NodeJS.Signals): unknown;
}

/**
 * Ends this process like the agent, by the same signal or with the same exit code, so that the parent sees the agent's end. For SIGUSR1
 * only the exit code is set, because that signal opens Node's debugger.
 */
export function exitAs({ exitCode, signal }: ExitStatus, self: EndingProcess = process): void {
  self.exitCode = exitCode;
  if (signal !== undefined && signal !== "SIGUSR1") self.kill(self.pid, signal);
}
