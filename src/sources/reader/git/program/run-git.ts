import type { ChildProcess } from "node:child_process";
import { type Clock, systemClock } from "../../../../base/clock.ts";
import { spawnProcess } from "../../../../base/processes/spawn-process.ts";
import { SkillsError } from "../../../../base/errors.ts";
import { type GitProgram, type GitRemote, gitEnvironment, gitSettings } from "./git-settings.ts";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { makeTemporary } from "../../../../base/processes/temporary-directory.ts";
import { findProgram, searchPath } from "../../../../base/processes/find-program.ts";

/** One call of git. */
interface GitCall {
  /** Command and arguments; the settings are added. */
  readonly args: readonly string[];
  /** An own, empty directory: where git starts, and its home. */
  readonly home: string;
  /** Without it, no protocol is allowed. */
  readonly remote?: GitRemote;
  readonly input?: string;
  /** Most bytes of stdout. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface GitOutcome {
  /** Whether it ended with 0. */
  readonly succeeded: boolean;
  readonly stdout: Buffer;
  /** The end of it, made safe to show. */
  readonly stderr: string;
}

const stderrKept = 8 * 1024;
const stderrShown = 300;

/**
 * Runs git without a shell, in a process group of its own, which is killed as a whole. Throws EXECUTION_TIMEOUT, FILE_TOO_LARGE, the
 * reason of `signal`, or RUNTIME_BUSY if it cannot be started now.
 */
export async function runGit(program: GitProgram, call: GitCall): Promise<GitOutcome> {
  const { args, home, remote, input = "", maxBytes, timeoutMs, clock, signal } = call;
  signal.throwIfAborted();
  const child = await spawnProcess(program.file, [...gitSettings(remote), ...args], {
    cwd: home,
    env: gitEnvironment(program, home, remote),
    // Its own process group; Windows has none, and would open a window.
    detached: process.platform !== "win32",
    windowsHide: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  let failure: Error | undefined;
  const end = (reason: Error): void => {
    failure ??= reason;
    killGroup(child);
  };
  const leave = (): void => end(signal.reason as Error);
  const command = args.find((arg) => !arg.startsWith("-")) ?? "";
  const cancel = clock.after(timeoutMs, () => end(tookTooLong(command, timeoutMs)));
  signal.addEventListener("abort", leave);
  if (signal.aborted) leave();
  const output: Buffer[] = [];
  let length = 0;
  let errors = Buffer.alloc(0);
  child.stdout?.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length > maxBytes) end(printedTooMuch(command, maxBytes));
    else output.push(chunk);
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    errors = Buffer.concat([errors, chunk]).subarray(-stderrKept);
  });
  // It may end before it has read everything.
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(input);
  try {
    const code = await closed(child);
    if (failure !== undefined) throw failure;
    return { succeeded: code === 0, stdout: Buffer.concat(output), stderr: toShown(errors) };
  } finally {
    cancel();
    signal.removeEventListener("abort", leave);
  }
}

function closed(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.on("close", (code) => {
      resolve(code);
    });
  });
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill("SIGKILL");
    else process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/**
 * What git said, in one line: the last error, without what only terminals understand. The other machine can put anything into it; the
 * user information of a URL is removed.
 */
function toShown(bytes: Buffer): string {
  const lines = bytes.toString("utf8").split(/[\r\n]+/).map((line) => line.replace(/[^\P{C}\t]/gu, "").trim()); // prettier-ignore
  const said = lines.filter((line) => line !== "" && !line.startsWith("hint:"));
  const telling = said.filter((line) => /^(?:fatal|error|remote|ssh|ERR)\b/i.test(line));
  const [first = ""] = telling.length > 0 ? telling : said;
  const all = (telling.length > 1 ? telling : [first]).join(" ");
  return all.replace(/\/\/[^/@\s]*@/g, "//").slice(0, stderrShown);
}

function tookTooLong(command: string, milliseconds: number): SkillsError {
  return new SkillsError(
    "EXECUTION_TIMEOUT",
    `git ${command} did not end within ${milliseconds / 1_000} s; try again.`,
  );
}

function printedTooMuch(command: string, bytes: number): SkillsError {
  return new SkillsError(
    "FILE_TOO_LARGE",
    `git ${command} printed more than ${bytes} bytes; the repository is too large.`,
  );
}

/** The first with `http.curloptResolve`, without which git would look up a host again after we checked its addresses. */
const oldest = [2, 37] as const;

/** Finds a git that is new enough; undefined without one. */
export async function findGit(env: NodeJS.ProcessEnv = process.env): Promise<GitProgram | undefined> {
  const directories = searchPath(env.PATH ?? "");
  const file = findProgram(directories, process.platform === "win32" ? "git.exe" : "git");
  if (file === undefined) return undefined;
  const program = { file, searchPath: directories.join(path.delimiter) };
  return isRecent(await readVersion(program)) ? program : undefined;
}

async function readVersion(program: GitProgram): Promise<string> {
  const home = makeTemporary(tmpdir(), "git");
  try {
    const { stdout } = await runGit(program, {
      args: ["--version"],
      home,
      maxBytes: 1_024,
      timeoutMs: 10_000,
      clock: systemClock,
      signal: new AbortController().signal,
    });
    return stdout.toString("utf8");
  } catch {
    // It cannot be started or does not answer: as good as none.
    return "";
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** Whether the text of `git --version` is of one that we can use. */
export function isRecent(text: string): boolean {
  const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(text) ?? []).map(Number);
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
}
