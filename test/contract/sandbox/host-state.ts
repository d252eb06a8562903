import { readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";

/** The state of the host that a run must not change. */
export interface HostState {
  readonly mounts: string;
  readonly temporary: readonly string[];
  readonly descriptors: number;
  /** Descendants of this process. */
  readonly descendants: number;
}

export function hostState(): HostState {
  return {
    mounts: text("/proc/self/mountinfo"),
    temporary: list(tmpdir()),
    descriptors: list("/proc/self/fd").length,
    descendants: descendants().length,
  };
}

/** Processes with this token in their name, which attacks give to the processes they leave behind. */
export function processesNamedAfter(token: string): number[] {
  // The token is preceded by one letter, and names are limited to 15 characters.
  return processes().filter((pid) => text(`/proc/${pid}/comm`).includes(token.slice(0, 14)));
}

/** Processes of the host whose command line contains `name`, or whose name contains its first 15 characters. */
export function processesCalled(name: string): number[] {
  return processes().filter(
    (pid) => text(`/proc/${pid}/cmdline`).includes(name) || text(`/proc/${pid}/comm`).startsWith(name.slice(0, 15)),
  );
}

/** The users of processes in sandboxes as the host sees them, except those that are still starting. */
export function usersOfSandboxes(): number[] {
  return processesCalled("supervisor.main()")
    .filter((pid) => !text(`/proc/${pid}/cmdline`).includes("show_project"))
    .flatMap((pid) => (/^Uid:\s+(\d+)/m.exec(text(`/proc/${pid}/status`)) ?? []).slice(1).map(Number));
}

/** Command line and environment of every visible process. */
export function allEnvironments(): string[] {
  return processes().map((pid) => `${text(`/proc/${pid}/cmdline`)} ${text(`/proc/${pid}/environ`)}`);
}

function descendants(): number[] {
  const children = new Map<number, number[]>();
  for (const pid of processes()) {
    const parent = Number(/\) \S (\d+)/.exec(text(`/proc/${pid}/stat`))?.[1]);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found = [...(children.get(process.pid) ?? [])];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

function processes(): number[] {
  return list("/proc").map(Number).filter(Number.isInteger);
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    // Not on this platform.
    return [];
  }
}

function text(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // Not available on this platform, or the process has exited.
    return "";
  }
}
