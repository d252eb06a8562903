import { readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";

/** What of the host a run must leave as it was. */
export interface HostState {
  readonly mounts: string;
  readonly temporary: readonly string[];
  readonly descriptors: number;
  /** Processes that this one started, and theirs. */
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

/** Processes that took a name with this token in it, such as attacks give to what they leave. */
export function processesNamedAfter(token: string): number[] {
  // One letter before it, and names are cut after 15.
  return processes().filter((pid) => text(`/proc/${pid}/comm`).includes(token.slice(0, 14)));
}

/** Processes of the host whose name or command line holds `name` (its first 15 characters as a name). */
export function processesCalled(name: string): number[] {
  return processes().filter(
    (pid) => text(`/proc/${pid}/cmdline`).includes(name) || text(`/proc/${pid}/comm`).startsWith(name.slice(0, 15)),
  );
}

/** As whom the host sees what is in sandboxes, but for those that are being started. */
export function usersOfSandboxes(): number[] {
  return processesCalled("supervisor.main()")
    .filter((pid) => !text(`/proc/${pid}/cmdline`).includes("show_project"))
    .flatMap((pid) => (/^Uid:\s+(\d+)/m.exec(text(`/proc/${pid}/status`)) ?? []).slice(1).map(Number));
}

/** Command line and environment of every process that can be seen. */
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
    // Not on this platform, or over in the meantime.
    return "";
  }
}
