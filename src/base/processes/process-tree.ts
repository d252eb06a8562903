import { readdir } from "node:fs/promises";
import type { Clock } from "../clock.ts";
import { attempt } from "../failures/system-error.ts";
import { groupBy } from "../limited-map.ts";
import { readProcessStat } from "./live-process.ts";
import { runProgram } from "./spawn-process.ts";

/** A process as the system lists it. */
export interface ListedProcess {
  readonly id: number;
  readonly parent: number;
  /** The start time, as the system writes it: distinguishes processes that reuse an id. */
  readonly started: string;
}

/** The descendants of a process, including orphans that were seen before. */
export interface ProcessTree {
  /** Records the current descendants. Never rejects. */
  update(): Promise<void>;
  /** Signals the descendants that were running at the last update. */
  signalBelow(signal: NodeJS.Signals): void;
  /** Ends the descendants that outlive the root: SIGTERM, then SIGKILL after a grace period or when `hurry` resolves. Never rejects. */
  endRest(clock: Clock, hurry: Promise<void>): Promise<void>;
}

/** The time that the remaining processes have to exit, and the interval of the checks. */
const restMs = 2_000;
const restIntervalMs = 50;

/** Tracks the descendants of a process. Not for Windows, which has taskkill. */
export function createProcessTree(
  root: number,
  list: () => Promise<readonly ListedProcess[]> = process.platform === "linux" ? readProc : askPs,
  kill: (id: number, signal: NodeJS.Signals) => void = (id, signal) => void process.kill(id, signal),
): ProcessTree {
  let known: readonly ListedProcess[] = [];

  async function update(): Promise<void> {
    // If processes cannot be listed, for lack of descriptors or of /proc, the known ones are retained.
    const all = await list().catch(() => undefined);
    if (all !== undefined) known = descendants(root, known, all);
  }

  function signalBelow(signal: NodeJS.Signals): void {
    // The process may have ended meanwhile, or belong to another user.
    for (const { id } of known) attempt(() => kill(id, signal), undefined);
  }

  return {
    update,
    signalBelow,
    async endRest(clock, hurry) {
      if (known.length === 0) return;
      await update();
      signalBelow("SIGTERM");
      let checks = restMs / restIntervalMs;
      void hurry.then(() => (checks = 0));
      for (; known.length > 0 && checks > 0; checks--) {
        await Promise.race([new Promise<void>((resolve) => void clock.after(restIntervalMs, resolve)), hurry]);
        await update();
      }
      signalBelow("SIGKILL");
    },
  };
}

/** The processes that descend from the root or from known descendants. Drops processes that ended, and those whose id was reused. Pure. */
export function descendants(
  root: number,
  known: readonly ListedProcess[],
  all: readonly ListedProcess[],
): readonly ListedProcess[] {
  const started = new Map(all.map((listed) => [listed.id, listed.started]));
  const found = new Map(known.filter(({ id, ...one }) => started.get(id) === one.started).map((one) => [one.id, one]));
  const children = groupBy(all, ({ parent }) => parent);
  const left = [root, ...found.keys()];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    for (const child of children.get(at) ?? []) {
      if (child.id === root || found.has(child.id)) continue;
      found.set(child.id, child);
      left.push(child.id);
    }
  }
  return [...found.values()];
}

/** The maximum number of files open at the same time. */
const atOnce = 16;

async function readProc(): Promise<ListedProcess[]> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const listed: ListedProcess[] = [];
  for (let start = 0; start < ids.length; start += atOnce) {
    const stats = await Promise.all(ids.slice(start, start + atOnce).map(readStat));
    listed.push(...stats.filter((stat) => stat !== undefined));
  }
  return listed;
}

async function readStat(id: string): Promise<ListedProcess | undefined> {
  const stat = await readProcessStat(Number(id));
  return stat === undefined || stat.hasEnded
    ? undefined
    : { id: Number(id), parent: stat.parent, started: stat.started };
}

async function askPs(): Promise<ListedProcess[]> {
  const text = await runProgram("/bin/ps", ["-A", "-o", "pid=,ppid=,stat=,lstart="], { env: { LC_ALL: "C" } });
  return text.split("\n").flatMap((line) => {
    const [, id, parent, state = "", started = ""] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.+)$/.exec(line) ?? [];
    return id === undefined || state.startsWith("Z") ? [] : [{ id: Number(id), parent: Number(parent), started }];
  });
}
