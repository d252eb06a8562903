import { readdir } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { readProcessStat } from "../../base/live-process.ts";

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
  const stats = await Promise.all(ids.filter((id) => /^\d+$/.test(id)).map((id) => readProcessStat(Number(id))));
  const members = stats.filter((stat) => stat?.group === leader);
  return members.length > 0 && members.every((member) => member?.hasEnded);
}
