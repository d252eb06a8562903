import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import { SkillsError } from "../../errors.ts";
import type { DenoCommand } from "./deno-command.ts";
import { readFrames } from "../frames/frames.ts";
import type { Frame, FrameReader } from "../frames/frames.ts";
import { spawnSandbox } from "../drive/spawn-sandbox.ts";

/** A child that was started, and said its first word. */
export interface PyodideProcess {
  readonly first: Frame;
  readonly frames: FrameReader;
  readonly stdin: Writable;
  readonly exited: Promise<void>;
  /** What its first thread says by exiting, beside which code of the user never runs; `undefined` before it is dead. */
  readonly verdict: () => "memory" | "timeout" | undefined;
  /** How it ended; for people. */
  readonly lastWords: () => string;
  readonly kill: () => void;
}

/** A Python whose library is not compiled takes seconds, and many on a busy machine. */
const startupMs = 60_000;
const mostWords = 2_000;
const verdicts = new Map<number, "memory" | "timeout">([
  [86, "memory"],
  [87, "timeout"],
]);

/**
 * Starts Deno in an empty directory, as `user` where that is another, and waits until it is `ready`, or sends its `library`.
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
    // A session of its own: what the terminal sends to this process is for this process to pass on.
    detached: process.platform !== "win32",
    ...(user === undefined ? {} : { uid: user, gid: user }),
  });
  const started = describe(child);
  const cancel = clock.after(startupMs, started.kill);
  try {
    const first = await started.frames.next();
    if (first?.header.type === "failed") throw new Error(String(first.header["message"]).slice(0, mostWords));
    if (first?.header.type !== "ready" && first?.header.type !== "library") throw new Error("It did not get ready.");
    child.unref();
    return { ...started, first };
  } catch (error) {
    started.kill();
    await started.exited;
    const detail = `${String(error)} ${started.lastWords()}`;
    throw new SkillsError("SANDBOX_UNAVAILABLE", `Deno with Pyodide did not start: ${detail}`, { cause: error });
  } finally {
    cancel();
  }
}

function describe(child: ChildProcess): Omit<PyodideProcess, "first"> {
  const [stdin, stdout, stderr] = child.stdio as unknown as [Writable, Readable, Socket];
  let words = "";
  let verdict: "memory" | "timeout" | undefined;
  let lastWords = "";
  // Signs of life, and what the engine says of itself. Read to the end, so that it never waits for us.
  stderr.on("data", (bytes: Buffer) => {
    if (words.length < mostWords) words += bytes.toString("latin1").replaceAll(/[^\x20-\x7e]+/g, " ");
  });
  stderr.unref();
  const silent = new Promise((resolve) => stderr.once("close", resolve));
  const ended = new Promise<void>((resolve) => {
    child.once("exit", (code, signal) => {
      verdict = verdicts.get(code ?? 0);
      lastWords = signal === null ? `It exited with ${String(code)}.` : `It was ended by ${signal}.`;
      resolve();
    });
  });
  const exited = Promise.all([ended, silent]).then(() => {
    // The engine's own way out, where it notices before the first thread does.
    if (/out of memory/i.test(words)) verdict ??= "memory";
    lastWords = `${lastWords} ${words.trim()}`.trim().slice(0, mostWords);
  });
  // A child that is gone is noticed by its exit.
  for (const stream of [stdin, stdout, stderr]) stream.on("error", () => undefined);
  return {
    stdin,
    frames: readFrames(stdout),
    exited,
    verdict: () => verdict,
    lastWords: () => lastWords,
    kill: () => void child.kill("SIGKILL"),
  };
}
