import type { ChildProcess } from "node:child_process";
import { type Clock, systemClock } from "../../../../base/clock.ts";
import { spawnProcess } from "../../../../base/processes/spawn-process.ts";
import { SkillsError } from "../../../../base/errors.ts";
import { type GitProgram, type GitRemote, gitEnvironment, gitSettings } from "./git-settings.ts";
import type { GitLimits } from "../../git.ts";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { makeTemporary } from "../../../../base/processes/temporary-directory.ts";
import { findProgram, searchPath } from "../../../../base/processes/find-program.ts";

/** A git of this machine, and a directory of its own in which it works, and which is its home. */
export interface GitPlace {
  readonly program: GitProgram;
  readonly home: string;
  readonly limits: GitLimits;
  readonly clock: Clock;
}

/** One call of git. */
interface GitCall {
  /** Command and arguments; the settings are added. */
  readonly args: readonly string[];
  /** Without it, no protocol is allowed. */
  readonly remote?: GitRemote;
  readonly input?: string;
  /** Most bytes of stdout. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
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
export async function runGit(
  { program, home, clock }: Pick<GitPlace, "program" | "home" | "clock">,
  { args, remote, input = "", maxBytes, timeoutMs }: GitCall,
  signal: AbortSignal,
): Promise<GitOutcome> {
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
  const cancel = clock.after(timeoutMs, () => {
    end(new SkillsError("EXECUTION_TIMEOUT", `git did not end within ${timeoutMs / 1_000} s; try again.`));
  });
  signal.addEventListener("abort", leave);
  if (signal.aborted) leave();
  const output: Buffer[] = [];
  let length = 0;
  let errors = Buffer.alloc(0);
  child.stdout?.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length <= maxBytes) output.push(chunk);
    else
      end(new SkillsError("FILE_TOO_LARGE", `git printed more than ${maxBytes} bytes; the repository is too large.`));
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    errors = Buffer.concat([errors, chunk]).subarray(-stderrKept);
  });
  // It may end before it has read everything.
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(input);
  try {
    const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
    if (failure !== undefined) throw failure;
    return { succeeded: code === 0, stdout: Buffer.concat(output), stderr: toShown(errors) };
  } finally {
    cancel();
    signal.removeEventListener("abort", leave);
  }
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

/** What a person checks who is refused over ssh. */
export const keyHint =
  "Check that `ssh -o BatchMode=yes` reaches this host with your key, and that its host key is known.";

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
    const call = { args: ["--version"], maxBytes: 1_024, timeoutMs: 10_000 };
    const { stdout } = await runGit({ program, home, clock: systemClock }, call, new AbortController().signal);
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
