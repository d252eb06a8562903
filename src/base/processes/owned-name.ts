import { createHash, randomBytes } from "node:crypto";
import { identifyProcess, isRunning } from "./live-process.ts";

/** What another boot or container left behind. */
const abandonedMs = 24 * 60 * 60 * 1000;
const form = /^(\d{1,10})-(\d{0,20})-([0-9a-f]{8})-[0-9a-f]{16}$/;

/** A name for something that this process makes, which nobody can guess, and by which a later process can tell whether this one still runs. */
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
