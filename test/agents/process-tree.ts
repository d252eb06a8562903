import { readdir, readFile } from "node:fs/promises";

/** A running process, not a zombie. */
export interface RunningProcess {
  readonly id: number;
  readonly parent: number;
  /** Distinguishes it from a later process with the same id. */
  readonly started: string;
  readonly command: string;
}

/** The descendants of a process, on Linux only; empty elsewhere. */
export async function descendantsOf(ancestor: number | undefined): Promise<RunningProcess[]> {
  const all = await listProcesses();
  const found = new Set([ancestor]);
  // After ids wrap around, a child's id may be smaller than its parent's.
  for (let before = 0; before < found.size;) {
    before = found.size;
    for (const { id, parent } of all) if (found.has(parent)) found.add(id);
  }
  return all.filter(({ id, parent }) => found.has(id) && found.has(parent));
}

/** The processes that have not ended, including orphans. */
export async function stillRunning(processes: readonly RunningProcess[]): Promise<string[]> {
  const all = await listProcesses();
  return processes
    .filter(({ id, started }) => all.some((other) => other.id === id && other.started === started))
    .map(({ command }) => command);
}

async function listProcesses(): Promise<RunningProcess[]> {
  if (process.platform !== "linux") return [];
  const ids = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry));
  return (await Promise.all(ids.map(readProcess))).filter((found) => found !== undefined);
}

async function readProcess(id: string): Promise<RunningProcess | undefined> {
  try {
    const stat = await readFile(`/proc/${id}/stat`, "utf8");
    const [state, parent, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return undefined;
    const command = (await readFile(`/proc/${id}/cmdline`, "utf8")).split("\0").join(" ").trim();
    return { id: Number(id), parent: Number(parent), started: rest[17] ?? "", command };
  } catch {
    return undefined; // It has ended meanwhile.
  }
}
