import { readdir, readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

const pollMs = 5;
const mostWaitMs = 30_000;

/** Kills a process group, and waits: on a busy machine what was killed takes its time to die. */
export async function endGroup(leader: number): Promise<void> {
  // Each time: who was about to found the group has not heard the first.
  for (let waited = 0; waited < mostWaitMs && signalGroup(leader, "SIGKILL"); waited += pollMs) {
    if (await isOnlyUnburied(leader)) return;
    await setTimeout(pollMs);
  }
}

/** Whether there was anybody to signal. */
export function signalGroup(leader: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-leader, signal);
  } catch {
    return false; // Nobody; or somebody else's by now.
  }
}

/** The dead whom nobody waits for can be signalled for ever: the first process of a container often waits for no orphans. */
async function isOnlyUnburied(leader: number): Promise<boolean> {
  const ids = await readdir("/proc").catch(() => []);
  const stats = await Promise.all(ids.filter((id) => /^\d+$/.test(id)).map(readStat));
  const states = stats.flatMap(([state, , group]) => (group === String(leader) ? [state] : []));
  return states.length > 0 && states.every((state) => state === "Z" || state === "X");
}

/** State, parent, group and more; nothing of a process that is gone. */
async function readStat(id: string): Promise<string[]> {
  const stat = await readFile(`/proc/${id}/stat`, "utf8").catch(() => "");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}
