import { createHash, randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { namesIn } from "../paths/directories.ts";
import { identifyProcess, isRunning } from "./live-process.ts";

/** Creates an empty directory that only this user can enter. `purpose`: of a few letters. */
export function makeTemporary(above: string, purpose: string): string {
  const directory = path.join(above, `${prefixOf(purpose)}${ownedName()}`);
  mkdirSync(directory, { mode: 0o700 });
  return directory;
}

/** Removes temporary directories that killed processes of this user left behind. Does not throw. */
export function sweepTemporaryDirectories(above: string, purpose: string, now = Date.now()): void {
  const prefix = prefixOf(purpose);
  const user = process.getuid?.();
  try {
    for (const name of namesIn(above).filter((one) => one.startsWith(prefix))) {
      const directory = path.join(above, name);
      const stats = lstatSync(directory, { throwIfNoEntry: false });
      // Nobody else can have changed what is in it.
      const isOwn =
        stats?.isDirectory() === true && (user === undefined || (stats.uid === user && (stats.mode & 0o077) === 0));
      if (isOwn && isAbandoned(name.slice(prefix.length), () => stats.mtimeMs, now))
        rmSync(directory, { recursive: true, force: true });
    }
  } catch {
    // Not readable, or another process removes it: the next sweep tries again.
  }
}

function prefixOf(purpose: string): string {
  return `acp-skills-${purpose}-`;
}

/** The age at which leftovers of another boot or container count as abandoned. */
const abandonedMs = 24 * 60 * 60 * 1000;
const form = /^(\d{1,10})-(\d{0,20})-([0-9a-f]{8})-[0-9a-f]{16}$/;

/** A name for something that this process makes, which nobody can guess, and by which a later process can check whether this one still runs. */
export function ownedName(): string {
  const { pid, started, space } = identifyProcess();
  return `${pid}-${started}-${shortHash(space)}-${randomBytes(8).toString("hex")}`;
}

/**
 * Whether the process that made something of this name has exited. One that cannot be seen, as in another container, has a day. False for
 * a name of another form.
 */
export function isAbandoned(name: string, changedMs: () => number, now: number): boolean {
  const [, pid, started = "", space] = form.exec(name) ?? [];
  if (pid === undefined) return false;
  const ours = identifyProcess().space;
  const running = space === shortHash(ours) ? isRunning({ pid: Number(pid), started, space: ours }) : undefined;
  return running === undefined ? now - changedMs() > abandonedMs : !running;
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
