import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import path from "node:path";
import { pidExists } from "../../../base/processes/live-process.ts";

const prefix = "acp-skills-git-";
/** Younger ones may belong to a process that only another container sees. */
const abandonedAfter = 60 * 60_000;

/** Creates an own, empty directory for git. */
export async function makeHome(temporaryDirectory: string): Promise<string> {
  return await mkdtemp(path.join(temporaryDirectory, `${prefix}${process.pid}-`));
}

/** Removes what processes that were killed have left there. */
export async function sweepHomes(temporaryDirectory: string, now = Date.now()): Promise<void> {
  const names = await readdir(temporaryDirectory).catch(() => []);
  for (const name of names) {
    const [, pid] = /^acp-skills-git-(\d+)-\w{6}$/.exec(name) ?? [];
    if (pid === undefined || pidExists(Number(pid))) continue;
    const directory = path.join(temporaryDirectory, name);
    try {
      if (now - (await stat(directory)).mtimeMs > abandonedAfter) await rm(directory, { recursive: true, force: true });
    } catch {
      // It belongs to another user, or another process removes it.
    }
  }
}
