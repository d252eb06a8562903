import { readdir } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { readProcessStat } from "../../base/processes/live-process.ts";

const pollMs = 5;
const mostWaitMs = 30_000;

/** Kills a process group and waits until it is dead. */
export async function endGroup(leader: number): Promise<void> {
  // Repeatedly: a process that joins the group late does not receive the first signal.
  for (let waited = 0; waited < mostWaitMs && signalGroup(leader, "SIGKILL"); waited += pollMs) {
    if (await isOnlyUnburied(leader)) return;
    await setTimeout(pollMs);
  }
}

/** Whether the group exists. */
export function signalGroup(leader: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-leader, signal);
  } catch {
    return false; // Gone, or its id belongs to another user by now.
  }
}

/** Zombies can be signalled forever: the first process of a container often does not reap orphans. */
async function isOnlyUnburied(leader: number): Promise<boolean> {
  const ids = await readdir("/proc").catch(() => []);
  const stats = await Promise.all(ids.filter((id) => /^\d+$/.test(id)).map((id) => readProcessStat(Number(id))));
  const members = stats.filter((stat) => stat?.group === leader);
  return members.length > 0 && members.every((member) => member?.hasEnded);
}
