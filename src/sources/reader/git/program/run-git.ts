import path from "node:path";
import type { ChildProcess } from "node:child_process";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { type Clock, systemClock } from "../../../../base/clock.ts";
import { spawnProcess } from "../../../../base/processes/spawn-process.ts";
import { attempt } from "../../../../base/failures/system-error.ts";
import { SkillsError } from "../../../../base/errors.ts";
import type { GitLimits, GitUrl } from "../../git.ts";
import { makeTemporary } from "../../../../base/processes/temporary-directory.ts";
import { findProgram, searchPath } from "../../../../base/processes/find-program.ts";

/** A git of this machine with a directory of its own, which is its working and home directory. */
export interface GitClient {
  readonly program: GitProgram;
  readonly home: string;
  readonly limits: GitLimits;
  readonly clock: Clock;
}

/** One call of git. */
interface GitCall {
  /** The command and its arguments; `runGit` adds the settings. */
  readonly args: readonly string[];
  /** The remote that the call may contact; without one, no protocol is allowed. */
  readonly remote?: GitRemote;
  readonly input?: string;
  /** The maximum size of stdout, in bytes. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

export interface GitOutcome {
  /** Whether the exit code was 0. */
  readonly succeeded: boolean;
  readonly stdout: Buffer;
  /** The last errors in one line, safe to show. */
  readonly stderr: string;
}

const maxStderrBytes = 8 * 1024;
const stderrShown = 300;

/**
 * Runs git without a shell, in a process group of its own, which is killed as a whole. Throws EXECUTION_TIMEOUT, FILE_TOO_LARGE, the
 * reason of `signal`, or RUNTIME_BUSY if it cannot be started now.
 */
export async function runGit(
  { program, home, clock }: Pick<GitClient, "program" | "home" | "clock">,
  { args, remote, input = "", maxBytes, timeoutMs }: GitCall,
  signal: AbortSignal,
): Promise<GitOutcome> {
  signal.throwIfAborted();
  const child = await spawnProcess(program.file, [...gitSettings(remote), ...args], {
    cwd: home,
    env: gitEnvironment(program, home, remote),
    // A process group of its own; Windows has none, and would open a window.
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
    errors = Buffer.concat([errors, chunk]).subarray(-maxStderrBytes);
  });
  // git may end before it has read everything.
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
  const { pid } = child;
  if (pid === undefined) return;
  // The group may have ended.
  attempt(() => (process.platform === "win32" ? child.kill("SIGKILL") : process.kill(-pid, "SIGKILL")), false);
}

/**
 * Converts stderr to one line: its errors, else its first line, without control characters and the user information of URLs. The other
 * machine can put anything into it.
 */
function toShown(bytes: Buffer): string {
  const lines = bytes.toString("utf8").split(/[\r\n]+/).map((line) => line.replace(/[^\P{C}\t]/gu, "").trim()); // prettier-ignore
  const said = lines.filter((line) => line !== "" && !line.startsWith("hint:"));
  const telling = said.filter((line) => /^(?:fatal|error|remote|ssh|ERR)\b/i.test(line));
  const [first = ""] = telling.length > 0 ? telling : said;
  const all = (telling.length > 1 ? telling : [first]).join(" ");
  return all.replace(/\/\/[^/@\s]*@/g, "//").slice(0, stderrShown);
}

/** The advice for a user who is refused over ssh. */
export const keyHint =
  "Check that `ssh -o BatchMode=yes` reaches this host with your key, and that its host key is known.";

/** The oldest usable version: the first with `http.curloptResolve`, without which git would resolve a checked host again. */
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
  const call = { args: ["--version"], maxBytes: 1_024, timeoutMs: 10_000 };
  const running = runGit({ program, home, clock: systemClock }, call, new AbortController().signal);
  // A git that cannot be started or does not answer counts as missing.
  const ended = await running.catch(() => undefined).finally(() => rm(home, { recursive: true, force: true }));
  return ended?.stdout.toString("utf8") ?? "";
}

/** Whether a text is the output of `git --version` of a usable version. */
export function isRecent(text: string): boolean {
  const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(text) ?? []).map(Number);
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
}

/** The git of this machine. */
export interface GitProgram {
  /** The absolute path. */
  readonly file: string;
  /** The PATH for git, with absolute directories only: relative ones would be searched in other directories than the user meant. */
  readonly searchPath: string;
}

/** A remote that one call may contact, at addresses that were checked. */
export interface GitRemote {
  readonly url: GitUrl;
  readonly addresses: readonly string[];
}

const none = process.platform === "win32" ? "NUL" : "/dev/null";

/**
 * Builds the whole environment of git from nothing: no configuration of the system or the user, hence no hooks, filters, helpers, proxies
 * or replaced URLs; no questions; no protocol but that of the remote.
 */
export function gitEnvironment(program: GitProgram, home: string, remote?: GitRemote): NodeJS.ProcessEnv {
  const { SystemRoot, SSH_AUTH_SOCK, GIT_SSL_CAINFO } = process.env;
  const ofSsh = remote?.url.scheme === "ssh";
  return {
    PATH: program.searchPath,
    HOME: home,
    XDG_CONFIG_HOME: home,
    TMPDIR: home,
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_SYSTEM: none,
    GIT_CONFIG_GLOBAL: none,
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "/bin/false",
    SSH_ASKPASS: "/bin/false",
    GIT_PROTOCOL_FROM_USER: "0",
    // An empty text allows no protocol.
    GIT_ALLOW_PROTOCOL: remote?.url.scheme ?? "",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_NO_LAZY_FETCH: "1",
    GIT_LFS_SKIP_SMUDGE: "1",
    GIT_CEILING_DIRECTORIES: home,
    // A few bytes can describe an object of gigabytes, so every single allocation is limited.
    GIT_ALLOC_LIMIT: "128m",
    ...(SystemRoot !== undefined && { SystemRoot }),
    // The certificate authorities of the user's organisation.
    ...(GIT_SSL_CAINFO !== undefined && { GIT_SSL_CAINFO }),
    ...(ofSsh && { GIT_SSH_COMMAND: sshCommand(remote) }),
    ...(ofSsh && SSH_AUTH_SOCK !== undefined && { SSH_AUTH_SOCK }),
  };
}

/** Builds the ssh command. git passes it to a shell, so it varies only in a host and an address that were parsed. */
function sshCommand({ url, addresses }: GitRemote): string {
  const options = ["BatchMode=yes", "StrictHostKeyChecking=yes", "ForwardAgent=no", "PermitLocalCommand=no"];
  const [address] = addresses;
  const pinned = address === undefined ? [] : [`HostName=${address}`, `HostKeyAlias=${url.host.text}`];
  return `ssh ${[...options, ...pinned].map((option) => `-o ${option}`).join(" ")}`;
}

/** The settings of every call. With them, git runs no program, requests no more than the call does, and does not repack. */
const fixed = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.askPass=",
  "credential.helper=",
  "init.defaultBranch=main",
  "http.followRedirects=false",
  "http.proxy=",
  "protocol.version=2",
  "transfer.bundleURI=false",
  "fetch.bundleURI=",
  "transfer.fsckObjects=true",
  "fetch.fsckObjects=true",
  "fetch.recurseSubmodules=false",
  "submodule.recurse=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "fetch.writeCommitGraph=false",
  // git stores one pack, never many small files.
  "fetch.unpackLimit=1",
  "pack.threads=1",
  // Larger contents are not held in memory while they are checked.
  "core.bigFileThreshold=4m",
  "http.lowSpeedLimit=1024",
  "http.lowSpeedTime=30",
];

/** Returns the arguments before the command: the settings, and the host's addresses, so that git resolves nothing itself. */
export function gitSettings(remote?: GitRemote): readonly string[] {
  const settings = [...fixed, ...(remote === undefined ? [] : pins(remote))];
  return settings.flatMap((setting) => ["-c", setting]);
}

function pins({ url: { scheme, host, port }, addresses }: GitRemote): readonly string[] {
  if (scheme === "ssh" || host.address !== undefined) return [];
  const shown = addresses.map((address) => (address.includes(":") ? `[${address}]` : address));
  return [`http.curloptResolve=${host.text}:${port}:${shown.join(",")}`];
}
