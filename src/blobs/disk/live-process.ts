import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Which process this is, so that another one can tell whether it still runs. */
export interface ProcessIdentity {
  readonly token: string;
  /** Where the pid means something: one boot of one machine, and there one pid namespace. */
  readonly space: string;
  readonly pid: number;
  /** When it started, in the kernel's own ticks: a pid is used again. Empty where the system does not say. */
  readonly started: string;
}

export function thisProcess(token: string): ProcessIdentity {
  return { token, space: ourSpace, pid: process.pid, started: startOf(process.pid) };
}

/**
 * Exact for processes of our own pid space on Linux, also after SIGKILL and when the pid is used again. Elsewhere (another
 * container, another system) a process counts as alive while `beatIsFresh`, and as dead when its pid is gone.
 */
export function isRunning(identity: ProcessIdentity, beatIsFresh: boolean): boolean {
  if (identity.space !== ourSpace) return beatIsFresh;
  if (!pidExists(identity.pid)) return false;
  return identity.started === "" ? beatIsFresh : startOf(identity.pid) === identity.started;
}

/** Undefined for a text that is not an identity. */
export function parseIdentity(text: string): ProcessIdentity | undefined {
  const [token = "", space = "", pid = "", started, end] = text.split("\n");
  if (token === "" || started === undefined || end !== "" || !/^\d+$/.test(pid)) return undefined;
  return { token, space, pid: Number(pid), started };
}

export function toText({ token, space, pid, started }: ProcessIdentity): string {
  return [token, space, pid, started, ""].join("\n");
}

const ourSpace = findSpace();

function findSpace(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    return `${boot} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname(); // No /proc: not Linux, or hidden from us.
  }
}

/** Empty for a process that has ended but is not reaped yet, so that it equals no start. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The command's name, in parentheses, may itself hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? "" : (fields[19] ?? "");
  } catch {
    return ""; // Gone, or no /proc.
  }
}

function pidExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
