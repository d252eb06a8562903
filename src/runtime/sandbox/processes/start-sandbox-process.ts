import type { ChildProcess } from "node:child_process";
import { readdir } from "node:fs/promises";
import type { Server, Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { attempt } from "../../../base/failures/system-error.ts";
import type { Clock } from "../../../base/clock.ts";
import { readProcessStat } from "../../../base/processes/live-process.ts";
import { SkillsError } from "../../../base/errors.ts";
import type { SandboxProcess } from "../drive/drive-run.ts";
import { exitOf, spawnSandbox } from "../drive/sandbox-life.ts";
import { readFrames } from "../frames.ts";

export interface SandboxCommand {
  readonly file: string;
  readonly arguments: readonly string[];
  /** User and group id to run as; needs root. */
  readonly user: number | undefined;
  /** Whether the sandbox sends a listener. */
  readonly network: boolean;
  /** Whether there is no pid namespace, so that the process group of the program must be killed, too. */
  readonly alone: boolean;
}

const startupMs = 10_000;
const maxMessageLength = 2_000;

/** Starts a sandbox and waits until its supervisor is ready. Throws `SANDBOX_UNAVAILABLE` with its error output. */
export async function startSandboxProcess(command: SandboxCommand, clock: Clock): Promise<SandboxProcess> {
  const child = await spawnSandbox(command.file, command.arguments, {
    stdio: ["ignore", "ignore", ...Array<"pipe">(5).fill("pipe"), ...(command.network ? (["ipc"] as const) : [])],
    cwd: "/",
    env: {},
    // A new session: signals from the terminal reach only this process.
    detached: true,
    ...(command.user === undefined ? {} : { uid: command.user, gid: command.user }),
  });
  const started = follow(child);
  const cancel = clock.after(startupMs, () => started.kill());
  const handedOver = command.network ? receiveListener(child) : undefined;
  // Not awaited if starting fails.
  handedOver?.catch(() => undefined);
  try {
    const ready = await started.frames.next();
    if (ready?.header.type !== "ready") throw new Error("It did not become ready.");
    if (command.alone) started.endWith(Number(ready.header["program"]));
    const port = Number(ready.header["proxy_port"]);
    const listener = handedOver === undefined ? undefined : { server: await handedOver, port };
    if (command.network) child.disconnect();
    started.keepAlive(false);
    return { ...started, listener };
  } catch (error) {
    started.kill();
    await started.exited;
    handedOver?.then(
      (server) => server.close(),
      () => undefined,
    );
    const words = String(started.words.read() ?? "")
      .slice(0, maxMessageLength)
      .trim();
    const detail = words === "" ? `${String(error)} ${started.lastWords()}` : words;
    throw new SkillsError("SANDBOX_UNAVAILABLE", `The sandbox did not start: ${detail}`, { cause: error });
  } finally {
    cancel();
  }
}

function follow(child: ChildProcess) {
  const streams = child.stdio.slice(2, 7) as Socket[];
  const [words, control, program, stdout, stderr] = streams as [Socket, Socket, Socket, Socket, Socket];
  let lastWords = "";
  let group: number | undefined;
  const exited = exitOf(child, streams).then(async ({ signal, words: how }) => {
    lastWords = how;
    // A supervisor that exits has killed all others, and their ids may be reused by now.
    if (signal !== null && group !== undefined) await endGroup(group);
  });
  return {
    pid: child.pid,
    control,
    program,
    stdout,
    stderr,
    /** Stderr of the sandbox itself. */
    words,
    exited,
    frames: readFrames(control),
    lastWords: () => lastWords,
    kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      // The group first, while its id cannot be reused yet.
      if (group !== undefined) killGroup(group);
      child.kill("SIGKILL");
    },
    endWith(wanted: number): void {
      if (!Number.isSafeInteger(wanted) || wanted <= 1) throw new Error("It sent an invalid process id.");
      group = wanted;
    },
    release() {
      for (const stream of streams) stream.destroy();
    },
    keepAlive(wanted: boolean): void {
      for (const handle of [child, ...streams]) {
        if (wanted) handle.ref();
        else handle.unref();
      }
    },
  };
}

function receiveListener(child: ChildProcess): Promise<Server> {
  return new Promise((resolve, reject) => {
    child.once("message", (_message, handle) => resolve(handle as Server));
    child.once("exit", () => reject(new Error("It exited before it sent its listener.")));
  });
}

const pollMs = 5;
const maxWaitMs = 30_000;

/** Kills a process group and waits until it is dead. */
export async function endGroup(leader: number): Promise<void> {
  // Repeatedly: a process that joins the group late does not receive the first signal.
  for (let waited = 0; waited < maxWaitMs && killGroup(leader); waited += pollMs) {
    if (await isOnlyUnburied(leader)) return;
    await setTimeout(pollMs);
  }
}

/** Kills a group, and returns whether it exists: otherwise it is gone, or its id belongs to another user by now. */
function killGroup(leader: number): boolean {
  return attempt(() => process.kill(-leader, "SIGKILL"), false);
}

/** Whether a group has only zombies. These can be signalled forever: the first process of a container often does not reap orphans. */
async function isOnlyUnburied(leader: number): Promise<boolean> {
  const ids = await readdir("/proc").catch(() => []);
  const stats = await Promise.all(ids.filter((id) => /^\d+$/.test(id)).map((id) => readProcessStat(Number(id))));
  const members = stats.filter((stat) => stat?.group === leader);
  return members.length > 0 && members.every((member) => member?.hasEnded);
}
