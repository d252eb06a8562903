import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import type { Clock } from "../../../base/clock.ts";
import { SkillsError } from "../../../base/errors.ts";
import { exitOf, spawnSandbox } from "../drive/sandbox-life.ts";
import { type Frame, type FrameReader, readFrames } from "../frames.ts";

/** A started child that has sent its first frame. */
export interface PyodideProcess {
  readonly first: Frame;
  readonly frames: FrameReader;
  readonly stdin: Writable;
  readonly exited: Promise<void>;
  /** The exceeded limit, as the exit code of the first thread reports it: no user code runs there. `undefined` before the child is dead. */
  readonly verdict: () => "memory" | "timeout" | undefined;
  /** The exit code or signal, human-readable. */
  readonly lastWords: () => string;
  readonly kill: () => void;
  /** Kills the child and closes its descriptors, even with unread data. */
  readonly end: () => Promise<void>;
}

/** Milliseconds. Without a compiled library, Python takes seconds to start, and many on a busy machine. */
const startupMs = 60_000;
const maxMessageLength = 2_000;
const verdicts = new Map<number, "memory" | "timeout">([
  [86, "memory"],
  [87, "timeout"],
]);

/**
 * Starts Deno in an empty directory, as `user` if given, and waits until it is `ready` or sends its `library`.
 * Throws `SANDBOX_UNAVAILABLE`.
 */
export async function startPyodide(
  command: DenoCommand,
  directory: string,
  user: number | undefined,
  clock: Clock,
): Promise<PyodideProcess> {
  const child = await spawnSandbox(command.file, command.arguments, {
    stdio: ["pipe", "pipe", "pipe"],
    cwd: directory,
    env: command.environment,
    windowsHide: true,
    // A new session: signals from the terminal reach only this process.
    detached: process.platform !== "win32",
    ...(user === undefined ? {} : { uid: user, gid: user }),
  });
  const started = describe(child);
  const cancel = clock.after(startupMs, started.kill);
  try {
    const first = await started.frames.next();
    if (first?.header.type === "failed") throw new Error(String(first.header["message"]).slice(0, maxMessageLength));
    if (first?.header.type !== "ready" && first?.header.type !== "library") throw new Error("It did not become ready.");
    child.unref();
    return { ...started, first };
  } catch (error) {
    await started.end();
    const detail = `${String(error)} ${started.lastWords()}`;
    throw new SkillsError("SANDBOX_UNAVAILABLE", `Deno with Pyodide did not start: ${detail}`, { cause: error });
  } finally {
    cancel();
  }
}

function describe(child: ChildProcess) {
  const [stdin, stdout, stderr] = child.stdio as unknown as [Writable, Readable, Socket];
  let words = "";
  let verdict: "memory" | "timeout" | undefined;
  let lastWords = "";
  // Keep-alive dots and error messages of the engine. Always read, so that it does not block.
  stderr.on("data", (bytes: Buffer) => {
    if (words.length < maxMessageLength) words += bytes.toString("latin1").replaceAll(/[^\x20-\x7e]+/g, " ");
  });
  stderr.unref();
  const silent = new Promise((resolve) => stderr.once("close", resolve));
  const exited = Promise.all([exitOf(child, [stdin, stdout, stderr]), silent]).then(([{ code, words: how }]) => {
    // The engine may run out of memory before the first thread notices.
    verdict = verdicts.get(code ?? 0) ?? (/out of memory/i.test(words) ? "memory" : undefined);
    lastWords = `${how} ${words.trim()}`.trim().slice(0, maxMessageLength);
  });
  const kill = (): void => void child.kill("SIGKILL");
  return {
    stdin,
    frames: readFrames(stdout),
    exited,
    verdict: () => verdict,
    lastWords: () => lastWords,
    kill,
    async end() {
      kill();
      await exited;
      stdout.destroy();
    },
  };
}

export interface DenoChild {
  readonly deno: string;
  /** The directory of the package `pyodide`. A child can read only this one, `inside` (files of acp-skills) and `library` (compiled). */
  readonly pyodide: string;
  readonly inside: string;
  readonly library?: string | undefined;
  /** Only compile the standard library. */
  readonly making?: boolean;
  /** The path of a regular file, used as Deno's cache and temporary directory, so that it cannot write anything. */
  readonly nowhere: string;
}

export interface DenoCommand {
  readonly file: string;
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

const never = ["write", "net", "env", "run", "sys", "ffi", "import"];

/**
 * The command of a child. Its only permission is to read its own files, which it revokes before it runs any code. On POSIX, a resource
 * limit prevents writing files: Deno's SQLite would spill to the temporary directory without checking permissions.
 */
export function denoCommand(child: DenoChild, platform: NodeJS.Platform = process.platform): DenoCommand {
  const { deno, pyodide, inside, library, making } = child;
  const readable = [pyodide, inside, ...(library === undefined ? [] : [library])];
  // Undefined fields are not written.
  const configuration = { pyodide, inside, library, making };
  const given = [
    ...["run", "--quiet", "--no-prompt", "--no-config", "--no-lock", "--no-remote", "--no-npm", "--cached-only"],
    ...["--no-code-cache", "--node-modules-dir=none"],
    // A comma is escaped by doubling it.
    `--allow-read=${readable.map((path) => path.replaceAll(",", ",,")).join(",")}`,
    ...never.map((right) => `--deny-${right}`),
    platform === "win32" ? `${inside}\\deno\\main.js` : `${inside}/deno/main.js`,
    JSON.stringify(configuration),
  ];
  const environment = environmentOf(child.nowhere, platform);
  if (platform === "win32") return { file: deno, arguments: given, environment };
  return {
    file: "/bin/sh",
    arguments: ["-c", 'ulimit -f 0 && ulimit -c 0 && exec "$0" "$@"', deno, ...given],
    environment,
  };
}

/** The environment of a child: no variables of the host, except for `SystemRoot` on Windows. */
function environmentOf(nowhere: string, platform: NodeJS.Platform): Record<string, string> {
  return {
    DENO_DIR: nowhere,
    DENO_NO_UPDATE_CHECK: "1",
    DENO_NO_PROMPT: "1",
    // Otherwise code without permissions can use the graphics drivers.
    DENO_WEBGPU_BACKEND: "none",
    NO_COLOR: "1",
    TZ: "UTC",
    TMPDIR: nowhere,
    // Windows needs `SystemRoot` to start programs.
    ...(platform === "win32"
      ? { SystemRoot: process.env["SystemRoot"] ?? "C:\\Windows", TMP: nowhere, TEMP: nowhere }
      : {}),
  };
}
