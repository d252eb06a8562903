import { createHash, randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { hostname, userInfo } from "node:os";
import { attempt, systemCode } from "../failures/system-error.ts";
import { parseIfJson } from "../json/json-value.ts";
import { type Clock, every } from "../clock.ts";

/** Identifies a process beyond its pid, which is reused. Plain data: another process can check later whether it still runs. */
export interface ProcessIdentity {
  readonly pid: number;
  /** The start time in kernel ticks; empty if the system does not provide it. */
  readonly started: string;
  /** The scope in which the pid is valid: one boot of one machine, and one pid namespace in it. */
  readonly space: string;
}

export function identifyProcess(pid = process.pid): ProcessIdentity {
  return { pid, started: startOf(pid), space: ourSpace };
}

/**
 * Whether a process still runs. Exact for the same pid space on Linux, even after SIGKILL or pid reuse. Undefined if it cannot be
 * determined: in another container or boot, or on a system without /proc on which the pid exists.
 */
export function isRunning({ pid, started, space }: ProcessIdentity): boolean | undefined {
  if (space !== ourSpace) return undefined;
  if (!pidExists(pid)) return false;
  return started === "" ? undefined : startOf(pid) === started;
}

/** Parses an identity from JSON; undefined for any other text, such as a file that is still being written. */
export function parseIdentity(text: string): ProcessIdentity | undefined {
  const { pid, started, space } = (parseIfJson(text) ?? {}) as Partial<ProcessIdentity>;
  if (!Number.isSafeInteger(pid) || pid === undefined || pid <= 0) return undefined;
  return typeof started === "string" && typeof space === "string" ? { pid, started, space } : undefined;
}

export function pidExists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return systemCode(error) !== "ESRCH";
  }
}

/** Selected fields of a line of /proc/PID/stat. */
export interface ProcessStat {
  readonly parent: number;
  readonly group: number;
  readonly started: string;
  /** Whether the process is a zombie: it has ended and is not reaped yet. */
  readonly hasEnded: boolean;
}

/** Reads the stat of a process. Linux only; undefined for a process that has exited. */
export async function readProcessStat(pid: number): Promise<ProcessStat | undefined> {
  return parseStat(await readFile(`/proc/${pid}/stat`, "latin1").catch(() => ""));
}

function parseStat(stat: string): ProcessStat | undefined {
  // The command's name, in parentheses, may itself contain spaces and parentheses.
  const [state = "", parent, group, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (state === "") return undefined;
  const hasEnded = state === "Z" || state === "X";
  return { parent: Number(parent), group: Number(group), started: rest[16] ?? "", hasEnded };
}

/** Start time in kernel ticks; empty for a process that has exited or is a zombie, and on systems without /proc. */
export function startOf(pid: number, proc = "/proc"): string {
  const stat = parseStat(attempt(() => readFileSync(`${proc}/${pid}/stat`, "latin1"), ""));
  return stat === undefined || stat.hasEnded ? "" : stat.started;
}

/** The pid space of this process. The name of the machine if /proc is missing (not Linux) or hidden. */
const ourSpace = attempt(() => {
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  return `${boot} ${readlinkSync("/proc/self/ns/pid")}`;
}, hostname());

/** The age at which leftovers of another boot or container count as abandoned. */
const abandonedMs = 24 * 60 * 60 * 1000;
const form = /^(\d{1,10})-(\d{0,20})-([0-9a-f]{8})-[0-9a-f]{16}$/;

/** A name for something that this process creates. Nobody can guess it, and by it a later process can check whether this one runs. */
export function ownedName(): string {
  const { pid, started, space } = identifyProcess();
  return `${pid}-${started}-${shortHash(space)}-${randomBytes(8).toString("hex")}`;
}

/**
 * Whether the process that created something of this name has exited. A process that cannot be seen, for example in another container,
 * counts as exited after a day. False for a name of another form.
 */
export function isAbandoned(name: string, changedMs: () => number, now: number): boolean {
  const [, pid, started = "", space] = form.exec(name) ?? [];
  if (pid === undefined) return false;
  const running = space === shortHash(ourSpace) ? isRunning({ pid: Number(pid), started, space: ourSpace }) : undefined;
  return running === undefined ? now - changedMs() > abandonedMs : !running;
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

export interface ParentOptions {
  readonly clock: Clock;
  /** The id of the current parent process; it changes when the parent exits. */
  readonly parent: () => number;
}

const checkIntervalMs = 1_000;

/** Calls `gone` once when the parent process exits: a child of a killed agent may hold its end of a pipe open. */
export function whenParentGone({ clock, parent }: ParentOptions, gone: () => void): () => void {
  const first = parent();
  const stop = every(clock, checkIntervalMs, () => {
    if (parent() === first) return;
    stop();
    gone();
  });
  return stop;
}

/** The name of the user who runs this process. */
export function userName(): string {
  // A container may have no entry for it.
  return attempt(() => userInfo().username, `user ${process.getuid?.() ?? "unknown"}`);
}
