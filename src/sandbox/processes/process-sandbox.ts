import type { Server } from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../base/clock.ts";
import { SkillsError } from "../../errors.ts";
import type { Log } from "../../base/log.ts";
import { closableSandbox } from "../drive/closable-sandbox.ts";
import { driveRun, graceMs } from "../drive/drive-run.ts";
import { liesIn } from "../../base/is-within.ts";
import type { HostDirectory } from "../directory/host-directory.ts";
import { layFiles, makePrivateDirectory } from "../directory/lay-files.ts";
import type { PrivateDirectory } from "../directory/lay-files.ts";
import type { Surroundings } from "../frames/run-frames.ts";
import type { SandboxProcess } from "../drive/sandbox-process.ts";
import { findCgroups, openCgroup, sweepCgroups } from "./cgroups.ts";
import type { Cgroup } from "./cgroups.ts";
import { startSandboxProcess } from "./start-sandbox-process.ts";
import type { Command } from "./start-sandbox-process.ts";
import { chooseUser } from "../directory/sandbox-user.ts";
import type { SandboxUser } from "../directory/sandbox-user.ts";
import type { RunEnd, RunHost, Sandbox, SandboxRun } from "../sandbox.ts";
import { showPackages } from "../directory/show-to-nobody.ts";
import { openWarmPool } from "../drive/warm-pool.ts";

/** What must be known of a run before its sandbox is started; runs of the same shape can use the same waiting ones. */
interface Shape {
  readonly diskBytes: number;
  readonly network: boolean;
  readonly project: SandboxRun["project"];
  readonly packages: string | undefined;
  /** Programs that scripts use; other runs get Python alone. */
  readonly tools: boolean;
}

/** How a tier makes sandboxes out of processes. */
export interface ProcessTier {
  readonly tier: "bubblewrap" | "landlock";
  /** Directories that a run may write to and that the tier does not bring itself. */
  readonly writable: readonly string[];
  refuses(run: SandboxRun, user: SandboxUser): string | undefined;
  command(
    directory: PrivateDirectory,
    shape: Shape,
    wishes: readonly string[],
    user: SandboxUser,
  ): Pick<Command, "file" | "arguments"> & Partial<Pick<Command, "user">>;
  surroundings(directory: PrivateDirectory, shape: Shape): Omit<Surroundings, "proxyPort">;
}

export interface ProcessSandboxOptions {
  readonly host: HostDirectory;
  /** How many sandboxes wait, and for how long when nothing happens. */
  readonly pool: { readonly size: number; readonly idleMs: number };
  /** Serves the listener of a run that may use the network. Without it such runs are refused. */
  readonly egress: Egress | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export type Egress = (server: Server, network: readonly string[], log: Log) => { close(): Promise<void> | void };

interface Waiting {
  readonly sandbox: SandboxProcess;
  readonly directory: PrivateDirectory;
  readonly shape: Shape;
  readonly cgroup: Cgroup | undefined;
  alive: boolean;
}

export function openProcessSandbox(tier: ProcessTier, options: ProcessSandboxOptions): Sandbox {
  const { host: hostDirectory, egress, clock, log } = options;
  const leaving = new Set<Promise<void>>();
  const packagesFor = showPackages(hostDirectory);
  const cgroups = findCgroups();
  let parent = "parent" in cgroups ? cgroups.parent : undefined;
  if ("reason" in cgroups) log("info", `Runs have no cgroup: ${cgroups.reason}`);
  if (parent !== undefined) sweepCgroups(parent);
  let made = 0;
  /** What waits is of the shape of the last run that could wait. */
  let shapeOfPool: Shape = { diskBytes: 0, network: false, project: undefined, packages: undefined, tools: false };
  const pool = openWarmPool<Waiting>({
    ...options.pool,
    clock,
    make: (warm) => start(shapeOfPool, warm),
    isAlive: ({ alive, shape }) =>
      alive && shape.diskBytes === shapeOfPool.diskBytes && shape.tools === shapeOfPool.tools,
    async discard(waiting) {
      await end(waiting);
      await bury(waiting);
    },
    failed: (error) => log("warning", `No sandbox could be prepared: ${String(error)}`),
  });

  /** It is for what nothing else counts: no run fails for want of one. */
  function enclose({ pid }: SandboxProcess): Cgroup | undefined {
    if (parent === undefined || pid === undefined) return undefined;
    try {
      return openCgroup(parent, `${process.pid}-${pid}`, pid);
    } catch (error) {
      log("info", `Runs have no cgroup: ${String(error)}`);
      parent = undefined;
      return undefined;
    }
  }

  async function start(shape: Shape, warm: boolean): Promise<Waiting> {
    const user = chooseUser(shape.project);
    if ("refusal" in user) throw new SkillsError("SANDBOX_UNAVAILABLE", user.refusal);
    const directory = makePrivateDirectory(join(hostDirectory.path, `s${++made}`), user.id, tier.writable);
    try {
      const wishes = [
        ...(shape.network ? ["network"] : []),
        ...(shape.project === undefined ? [] : ["project"]),
        ...(warm ? ["warm"] : []),
      ];
      const command = {
        user: user.id,
        ...tier.command(directory, shape, wishes, user),
        environment: {},
        network: shape.network,
        alone: tier.tier === "landlock",
      };
      const sandbox = await startSandboxProcess(command, clock);
      const waiting: Waiting = { sandbox, directory, shape, cgroup: enclose(sandbox), alive: true };
      void sandbox.exited.then(() => (waiting.alive = false));
      return waiting;
    } catch (error) {
      await directory.remove();
      throw error;
    }
  }

  /** Waits until it is dead, which one that does not end by itself is made, and removes what lay on our side. */
  async function bury({ sandbox, directory, cgroup }: Waiting): Promise<void> {
    const cancel = clock.after(graceMs, () => sandbox.kill());
    await sandbox.exited;
    cancel();
    sandbox.release();
    sandbox.listener?.server.close();
    cgroup?.remove();
    await directory.remove();
  }

  async function end({ sandbox }: Waiting): Promise<void> {
    sandbox.keepAlive(true);
    sandbox.kill();
    await sandbox.exited;
  }

  /** After the answer, which waits neither for the kernel to take the empty sandbox apart nor for a disk. */
  async function tidy(used: Waiting): Promise<void> {
    await setImmediate();
    pool.refill();
    await bury(used);
  }

  async function take(run: SandboxRun): Promise<Waiting> {
    const { network, project, limits } = run;
    const packages = run.packages && (await packagesFor(run.packages));
    const tools = run.program.type === "script";
    const shape = { diskBytes: limits.diskBytes, network: network.length > 0, project, packages, tools };
    if (shape.network || project !== undefined || packages !== undefined) return start(shape, false);
    shapeOfPool = shape;
    return pool.take();
  }

  async function perform(run: SandboxRun, host: RunHost, signal: AbortSignal): Promise<RunEnd> {
    const waiting = await take(run);
    const { sandbox, directory, shape, cgroup } = waiting;
    const { listener } = sandbox;
    const tell: Log = (level, message) => log(level, host.hide(message));
    let proxy: ReturnType<Egress> | undefined;
    let isEnding = false;
    try {
      proxy = listener === undefined ? undefined : egress?.(listener.server, run.network, tell);
      await layFiles(directory, run.skills, run.blobs);
      if (signal.aborted) return { type: "cancelled" };
      cgroup?.limit(run.limits);
      const surroundings = { ...tier.surroundings(directory, shape), proxyPort: listener?.port };
      const ended = await driveRun(sandbox, run, surroundings, host, signal, { clock, log });
      isEnding = true;
      const isOver = ended.type !== "cancelled" && ended.type !== "limit" && cgroup?.ranOutOfMemory() === true;
      return isOver ? { type: "limit", limit: "memory" } : ended;
    } finally {
      try {
        await proxy?.close();
      } finally {
        if (!isEnding) await end(waiting);
        const tidied = tidy(waiting)
          .catch((error: unknown) => log("warning", `${directory.path} is left over: ${String(error)}`))
          .finally(() => leaving.delete(tidied));
        leaving.add(tidied);
      }
    }
  }

  function refuses(run: SandboxRun): string | undefined {
    if (run.network.length > 0 && egress === undefined)
      return "There is no proxy here through which a run could use the network.";
    // Who may write there could change what every sandbox starts with.
    if (run.project !== undefined && liesIn(hostDirectory.path, run.project.directory))
      return `A project cannot be a directory that sandboxes are made in, as ${run.project.directory} is.`;
    const user = chooseUser(run.project);
    return "refusal" in user ? user.refusal : tier.refuses(run, user);
  }

  return closableSandbox({
    tier: tier.tier,
    refuses,
    perform,
    async close() {
      await Promise.all(leaving);
      await pool.close();
      if (parent !== undefined) sweepCgroups(parent);
    },
  });
}
