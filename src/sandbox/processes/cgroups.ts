import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isWithin } from "../../base/is-within.ts";
import type { RunLimits } from "../sandbox.ts";

/** A cgroup (version 2) for the processes of one sandbox: the kernel counts what they hold, its own memory included. */
export interface Cgroup {
  /** Takes effect at once; where the kernel refuses, the supervisor's limits hold alone. */
  limit(limits: RunLimits): void;
  /** Whether a process in it was killed because together they held too much memory. */
  ranOutOfMemory(): boolean;
  /** When its processes are dead. One that is busy still goes with the next. */
  remove(): void;
}

/** Where cgroups come from; the defaults are those of the system. */
export interface CgroupSystem {
  readonly root: string;
  readonly proc: string;
  readonly write: (file: string, content: string) => void;
}

const system: CgroupSystem = { root: "/sys/fs/cgroup", proc: "/proc", write: writeFileSync };
const controllers = ["memory", "pids"] as const;
const prefix = "acp-skills-";
/** The supervisor and what it starts with, and what the kernel keeps for the tasks. */
const marginBytes = 128 * 1024 * 1024;
const marginTasks = 16;
/** Directories that a run fills, each with as much as its disk limit. */
const disks = 3;

/** The nearest cgroup above this process in which it may make some with limits; else why there is none. */
export function findCgroups({ root, proc, write }: CgroupSystem = system):
  { readonly parent: string } | { readonly reason: string } {
  const own = ownCgroup(root, proc);
  if (own === undefined)
    return {
      reason: `No cgroup v2 hierarchy with the ${controllers.join(" and ")} controllers is mounted at ${root}.`,
    };
  for (let place = own; isWithin(place, root); place = dirname(place)) {
    if (canHold(place, write)) return { parent: place };
  }
  return {
    reason: `None above ${own} may be written by this user: start from systemd-run --user --scope.`,
  };
}

/** Makes one below `parent`, with `pid` and all its descendants in it. `name` begins with its owner and a `-`. Throws where the kernel refuses. */
export function openCgroup(
  parent: string,
  name: string,
  pid: number,
  { proc, write: writeTo }: Omit<CgroupSystem, "root"> = system,
): Cgroup {
  const place = join(parent, `${prefix}${name}`);
  mkdirSync(place);
  const write = (file: string, value: number): void => writeTo(join(place, file), String(value));
  // With those that were busy before: the dead leave a cgroup a little after whoever waits for them is told.
  const remove = (): void => sweepCgroups(parent, name.slice(0, name.indexOf("-") + 1));
  try {
    for (const one of [pid, ...descendants(proc, pid)]) write("cgroup.procs", one);
  } catch (error) {
    remove();
    throw error;
  }
  return {
    limit({ memoryBytes, diskBytes, processes }) {
      try {
        write("memory.max", memoryBytes + disks * diskBytes + marginBytes);
        write("pids.max", 2 * processes + 32 + marginTasks);
      } catch {
        // It was removed by others.
      }
    },
    ranOutOfMemory: () => /^oom_kill [1-9]/m.test(readOrNothing(join(place, "memory.events"))),
    remove,
  };
}

/** Removes what processes of ours left, those of one `owner` or of all. Those in use are busy, and stay. */
export function sweepCgroups(parent: string, owner = ""): void {
  for (const name of namesIn(parent)) {
    if (!name.startsWith(prefix + owner)) continue;
    try {
      rmdirSync(join(parent, name));
    } catch {
      // In use.
    }
  }
}

function namesIn(place: string): string[] {
  try {
    return readdirSync(place);
  } catch {
    return []; // It is gone.
  }
}

function ownCgroup(root: string, proc: string): string | undefined {
  const line = /^0::(\/.*)$/m.exec(readOrNothing(join(proc, "self/cgroup")));
  const has = wordsOf(join(root, "cgroup.controllers"));
  return line?.[1] === undefined || !controllers.every((one) => has.includes(one)) ? undefined : join(root, line[1]);
}

/** What is enabled for its children stays so: nobody's processes are moved, and no limit is set but on our own. */
function canHold(place: string, write: CgroupSystem["write"]): boolean {
  try {
    for (const file of [place, join(place, "cgroup.procs")]) accessSync(file, constants.W_OK);
    const control = join(place, "cgroup.subtree_control");
    const missing = controllers.filter((one) => !wordsOf(control).includes(one));
    if (missing.length > 0) write(control, missing.map((one) => `+${one}`).join(" "));
    return true;
  } catch {
    return false; // Another's, or one with processes in it.
  }
}

function descendants(proc: string, pid: number): number[] {
  const children = wordsOf(join(proc, `${pid}/task/${pid}/children`)).map(Number);
  return children.flatMap((child) => [child, ...descendants(proc, child)]);
}

function wordsOf(file: string): string[] {
  return readOrNothing(file).split(/\s+/).filter(Boolean);
}

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // This kernel has none.
  }
}
