import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { attempt } from "../../../base/failures/system-error.ts";
import { isWithin } from "../../../base/paths/location.ts";
import { startOf } from "../../../base/processes/live-process.ts";
import type { RunLimits } from "../../sandbox.ts";

/** A cgroup (version 2) for the processes of one sandbox: the kernel enforces its limits, its own memory included. */
export interface Cgroup {
  /** Sets limits, effective immediately; if the kernel refuses, only the supervisor's limits apply. */
  limit(limits: RunLimits): void;
  /** Whether the kernel killed a process of this cgroup for exceeding the memory limit. */
  ranOutOfMemory(): boolean;
  /** Removes the cgroup; called when its processes are dead. A cgroup that is still busy is removed together with the next one. */
  remove(): void;
}

/** The access to cgroups; tests replace it. */
export interface CgroupSystem {
  readonly root: string;
  readonly proc: string;
  readonly write: (file: string, content: string) => void;
  readonly remove: (directory: string) => void;
}

export const systemCgroups: CgroupSystem = {
  root: "/sys/fs/cgroup",
  proc: "/proc",
  write: writeFileSync,
  remove: rmdirSync,
};

const controllers = ["memory", "pids"] as const;
const prefix = "acp-skills-";
/** Margin for the supervisor, its startup, and the kernel's memory per task. */
const marginBytes = 128 * 1024 * 1024;
const marginTasks = 16;
/** Directories that a run can fill, each up to its disk limit. */
const disks = 3;

/** The nearest cgroup above this process that can hold cgroups with limits, or why there is none. Changes nothing. */
export function findCgroups(
  system: CgroupSystem = systemCgroups,
): { readonly parent: string } | { readonly reason: string } {
  const { root, proc } = system;
  const path = /^0::(\/.*)$/m.exec(readOrNothing(join(proc, "self/cgroup")))?.[1];
  if (path === undefined || !hasControllers(join(root, "cgroup.controllers")))
    return {
      reason: `No cgroup v2 hierarchy with the ${controllers.join(" and ")} controllers is mounted at ${root}.`,
    };
  const own = join(root, path);
  for (let group = own; isWithin(group, root); group = dirname(group)) {
    if (canHoldLimits(group, root)) return { parent: group };
  }
  return {
    reason: `This user cannot write to ${own} or a cgroup above it. Start acp-skills with: systemd-run --user --scope`,
  };
}

/** The cgroups of this process's sandboxes, all below `parent`. */
export class CgroupParent {
  readonly #system: CgroupSystem;
  readonly #parent: string;
  readonly #ours: string;

  /** Enables the controllers for children of `parent` and removes cgroups of dead processes. Throws if the kernel refuses. */
  constructor(parent: string, system: CgroupSystem = systemCgroups) {
    this.#system = system;
    this.#parent = parent;
    this.#ours = `${prefix}${pidNamespace(system.proc)}-${process.pid}-${startOf(process.pid, system.proc)}-`;
    const control = join(parent, "cgroup.subtree_control");
    const missing = controllers.filter((one) => !wordsOf(control).includes(one));
    if (missing.length > 0) system.write(control, missing.map((one) => `+${one}`).join(" "));
    this.#removeAll((name) => isOfDeadProcess(name, system.proc));
  }

  /** Creates a cgroup with `pid` and all its descendants in it. Throws if the kernel refuses. */
  open(pid: number): Cgroup {
    const group = join(this.#parent, `${this.#ours}${pid}`);
    mkdirSync(group);
    const write = (file: string, value: number): void => this.#system.write(join(group, file), String(value));
    try {
      for (const one of [pid, ...descendants(this.#system.proc, pid)]) write("cgroup.procs", one);
    } catch (error) {
      this.close();
      throw error;
    }
    return {
      limit({ memoryBytes, diskBytes, processes }) {
        // Fails if another process removed it.
        attempt(() => {
          write("memory.max", memoryBytes + disks * diskBytes + marginBytes);
          write("pids.max", 2 * processes + 32 + marginTasks);
        }, undefined);
      },
      ranOutOfMemory: () => /^oom_kill [1-9]/m.test(readOrNothing(join(group, "memory.events"))),
      // All cgroups of this process: a dead process leaves its cgroup slightly later than its parent is notified.
      remove: () => this.close(),
    };
  }

  /** Removes all cgroups of this process that are not in use. */
  close(): void {
    this.#removeAll((name) => name.startsWith(this.#ours));
  }

  #removeAll(isWanted: (name: string) => boolean): void {
    // Empty if it no longer exists.
    for (const name of attempt(() => readdirSync(this.#parent), [])) {
      if (!name.startsWith(prefix) || !isWanted(name)) continue;
      // Fails if it is in use.
      attempt(() => this.#system.remove(join(this.#parent, name)), undefined);
    }
  }
}

/** Whether the process that created a cgroup is certainly gone: a living one may be about to use an empty cgroup. */
function isOfDeadProcess(name: string, proc: string): boolean {
  const [namespace, pid, started] = name.slice(prefix.length).split("-");
  return namespace === pidNamespace(proc) && startOf(Number(pid), proc) !== started;
}

/** The id of the pid namespace: process ids of another one mean nothing here. Empty if unknown; then it equals only unknown ones. */
function pidNamespace(proc: string): string {
  return attempt(() => readlinkSync(join(proc, "self/ns/pid")), "").replaceAll(/\D/g, "");
}

/** Whether a cgroup can have children with limits: only if it has no processes itself, unless it is the root. */
function canHoldLimits(group: string, root: string): boolean {
  const control = join(group, "cgroup.subtree_control");
  const processes = join(group, "cgroup.procs");
  if (![group, processes].every(isWritable)) return false;
  if (hasControllers(control)) return true;
  const isFree = group === root || wordsOf(processes).length === 0;
  return isFree && isWritable(control) && hasControllers(join(group, "cgroup.controllers"));
}

function isWritable(file: string): boolean {
  return attempt(() => {
    accessSync(file, constants.W_OK);
    return true;
  }, false);
}

function hasControllers(file: string): boolean {
  const found = wordsOf(file);
  return controllers.every((one) => found.includes(one));
}

function descendants(proc: string, pid: number): number[] {
  const children = wordsOf(join(proc, `${pid}/task/${pid}/children`)).map(Number);
  return children.flatMap((child) => [child, ...descendants(proc, child)]);
}

function wordsOf(file: string): string[] {
  return readOrNothing(file).split(/\s+/).filter(Boolean);
}

/** The text of a file of the kernel; empty if this kernel does not have it, or it is gone. */
export function readOrNothing(file: string): string {
  return attempt(() => readFileSync(file, "latin1"), "");
}
