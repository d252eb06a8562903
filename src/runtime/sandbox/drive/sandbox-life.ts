import type { ChildProcess, SpawnOptions } from "node:child_process";
import type { Server } from "node:net";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import { spawnProcess } from "../../../base/processes/spawn-process.ts";
import { isSkillsError, SkillsError } from "../../../base/errors.ts";
import type { SecretEndpoint } from "../egress-proxy/secret-endpoint.ts";
import type { HostDirectory } from "../directory/host-directory.ts";
import {
  type Roots,
  layFiles,
  makePrivateDirectory,
  ownRootNames,
  ownRoots,
  removeTree,
} from "../directory/private-directory.ts";
import type { Ability, RunEnd, RunNeeds, Sandbox, SandboxRun, Tier } from "../../sandbox.ts";
import { type Outside, type SandboxProcess, driveRun, supervisorGraceMs } from "./drive-run.ts";

/** The options for opening a tier. */
export interface TierOptions {
  /** The Python interpreter to use; by default, the first suitable one on this machine. */
  readonly python?: string | undefined;
  readonly temporaryDirectory?: string | undefined;
  /** Directories whose `node_modules` are searched for the optional peers, too. Must be trusted: found packages are executed. */
  readonly peersFrom?: readonly string[] | undefined;
  /** For files that are reused by later processes. */
  readonly cacheDirectory?: string | undefined;
  /** How many prepared sandboxes remain ready, and for how long after the last run. They make runs start faster. */
  readonly pool: { readonly size: number; readonly idleMs: number };
  /** Serves the listener of a run that may use the network. Absent: such runs are refused. */
  readonly egress?: Egress | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export type Egress = (
  server: Server,
  network: readonly string[],
  log: Log,
  endpoint?: SecretEndpoint,
) => { close(): Promise<void> | void };

/** The reasons of a tier that does not support these abilities. */
export function lacking(tier: Tier, ...abilities: readonly Ability[]): Sandbox["lacks"] {
  return Object.fromEntries(abilities.map((ability) => [ability, `The ${tier} tier does not support ${ability}.`]));
}

/** The abilities that tiers without programs and a network of their own do not support. */
export const beyondPython = ["network access", "scripts in bash", "scripts in Node"] as const;

function abilitiesFor({ program, network, project, packages }: RunNeeds): readonly Ability[] {
  const language = program.type === "script" ? program.language : "python";
  return [
    ...(network.length > 0 ? (["network access"] as const) : []),
    ...(project === undefined ? [] : (["project access"] as const)),
    ...(packages === undefined ? [] : (["installed packages"] as const)),
    ...(language === "python" ? [] : ([language === "bash" ? "scripts in bash" : "scripts in Node"] as const)),
  ];
}

/** Whether a run has no code of acp-skills, which would call the host over the channel. */
function isOtherScript({ program }: RunNeeds): boolean {
  return program.type === "script" && program.language !== "python";
}

/**
 * Wraps a tier: refuses what it refuses, and every run once closed. Closing aborts the signals of all runs, waits for them, and then closes
 * the tier, once.
 */
export function closableSandbox(tier: Sandbox): Sandbox {
  const closing = new AbortController();
  const running = new Set<Promise<RunEnd>>();
  let closed: Promise<void> | undefined;

  async function end(): Promise<void> {
    closing.abort();
    await Promise.allSettled(running);
    await tier.close();
  }

  function refuses(run: RunNeeds): string | undefined {
    if (tier.tier === "none" && run.isolation !== "none")
      return "There is no sandbox here, and this code may not run without one.";
    if (tier.tier !== "none" && run.isolation === "none") return `The ${tier.tier} tier isolates every run.`;
    if (tier.tier === "none" && isOtherScript(run) && (run.uses ?? []).length > 0)
      return "Without a sandbox, only code in Python can have secrets sent that it cannot read.";
    const lack = abilitiesFor(run).find((ability) => tier.lacks[ability] !== undefined);
    return lack === undefined ? tier.refuses(run) : tier.lacks[lack];
  }

  return {
    tier: tier.tier,
    lacks: tier.lacks,
    refuses,
    async run(run, host, signal) {
      const refusal = closing.signal.aborted ? "The sandbox is closed." : refuses(run);
      if (refusal !== undefined) throw new SkillsError("SANDBOX_UNAVAILABLE", refusal);
      if (signal.aborted) return { type: "cancelled" };
      // Not AbortSignal.any: listeners on `closing` would accumulate with every run.
      const both = new AbortController();
      const abort = (): void => both.abort();
      for (const one of [signal, closing.signal]) one.addEventListener("abort", abort);
      const performed = tier.run(run, host, both.signal).finally(() => {
        for (const one of [signal, closing.signal]) one.removeEventListener("abort", abort);
        running.delete(performed);
      });
      running.add(performed);
      return performed;
    },
    close: () => (closed ??= end()),
  };
}

/** A tier in which each run starts its own process, with its own directory. */
interface StartingTier extends Pick<Sandbox, "tier" | "lacks">, Pick<TierOptions, "clock" | "log"> {
  readonly host: HostDirectory;
  readonly start: (
    run: SandboxRun,
    roots: Roots,
  ) => Promise<{ readonly started: SandboxProcess; readonly outside?: Outside }>;
  readonly close?: () => Promise<void>;
}

export function openStartingSandbox({ tier, lacks, clock, log, host, start, close }: StartingTier): Sandbox {
  let made = 0;
  return closableSandbox({
    tier,
    lacks,
    refuses: () => undefined,
    async run(run, runHost, signal) {
      const directory = makePrivateDirectory(join(host.path, `s${++made}`), undefined, ownRootNames);
      let process: SandboxProcess | undefined;
      try {
        await layFiles(directory, run.skills, run.blobs);
        if (signal.aborted) return { type: "cancelled" };
        const roots = ownRoots(directory, run);
        const { started, outside } = await start(run, roots);
        process = started;
        return await driveRun(started, run, { roots, outside }, runHost, signal, { clock, log });
      } finally {
        const cancel = clock.after(supervisorGraceMs, () => process?.kill());
        await process?.exited;
        cancel();
        process?.release();
        await directory
          .remove()
          .catch((error: unknown) => log("warning", `${directory.path} could not be removed: ${String(error)}`));
      }
    },
    async close() {
      await close?.();
      await removeTree(host.path);
    },
  });
}

/** The delay before items are prepared: starting a process stops this one for some milliseconds, and with it the report of a run. */
export const restockAfterMs = 10;

/** Single-use items that take long to create; some are created in advance. */
export interface WarmPool<Item> {
  /** Returns a prepared item, or a new one. Throws what creating it throws. */
  take(): Promise<Item>;
  /** Creates missing items in the background after `restockAfterMs`: a run that has just ended is reported first. */
  refill(): void;
  /** Discards all items; no more are prepared. */
  close(): Promise<void>;
}

export interface PoolOptions<Item> {
  readonly size: number;
  readonly idleMs: number;
  readonly clock: Clock;
  make(warm: boolean): Promise<Item>;
  /** Whether an item is still usable; otherwise it is discarded. */
  isAlive(item: Item): boolean;
  discard(item: Item): Promise<void>;
  /** Receives the error of a preparation that failed. Must not throw. */
  failed(error: unknown): void;
}

export function openWarmPool<Item>(options: PoolOptions<Item>): WarmPool<Item> {
  const { size, idleMs, clock } = options;
  const waiting: Item[] = [];
  const busy = new Set<Promise<void>>();
  let making = 0;
  /** Whether the pool was not used for a while: no items are stored then. */
  let idle = true;
  let closed = false;
  let cancelDrain = (): void => undefined;
  let cancelRestock = (): void => undefined;

  const track = (work: Promise<void>): void => {
    const tracked = work.catch((error: unknown) => options.failed(error)).finally(() => busy.delete(tracked));
    busy.add(tracked);
  };
  const drain = (): void => {
    idle = true;
    for (const item of waiting.splice(0)) track(options.discard(item));
  };
  /** Prepares items one by one, because this competes with runs for the CPU. */
  const fill = async (): Promise<void> => {
    making += 1;
    try {
      const item = await options.make(true);
      if (closed || idle) await options.discard(item);
      else waiting.push(item);
    } finally {
      making -= 1;
    }
    restock();
  };
  const restock = (): void => {
    if (!closed && !idle && making === 0 && waiting.length < size) track(fill());
  };

  return {
    async take() {
      cancelDrain();
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
        if (options.isAlive(item)) return item;
        track(options.discard(item));
      }
      return options.make(false);
    },
    refill() {
      cancelDrain();
      if (closed) return;
      idle = false;
      cancelDrain = clock.after(idleMs, drain);
      cancelRestock();
      cancelRestock = clock.after(restockAfterMs, restock);
    },
    async close() {
      closed = true;
      cancelDrain();
      cancelRestock();
      drain();
      while (busy.size > 0) await Promise.all(busy);
    },
  };
}

/** Starts the first process of a sandbox. Throws SANDBOX_UNAVAILABLE, or RUNTIME_BUSY if a retry may succeed. */
export async function spawnSandbox(
  file: string,
  args: readonly string[],
  options: SpawnOptions,
): Promise<ChildProcess> {
  try {
    return await spawnProcess(file, args, options);
  } catch (error) {
    if (isSkillsError(error)) throw error;
    throw new SkillsError("SANDBOX_UNAVAILABLE", `The sandbox did not start: ${String(error)}`, { cause: error });
  }
}

/** The end of a process; `words` are human-readable. */
interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly words: string;
}

/** Resolves when a process exits. Errors of its streams are ignored, because the exit reports them, too. */
export function exitOf(child: ChildProcess, streams: readonly (Readable | Writable)[]): Promise<Exit> {
  for (const stream of streams) stream.on("error", () => undefined);
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      resolve({ code, signal, words: signal === null ? `It exited with ${code}.` : `It was ended by ${signal}.` });
    });
  });
}
