import { linkSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { SkillsError } from "../../errors.ts";
import { hasCode } from "./disk-layout.ts";
import type { ProcessRegistry } from "./process-registry.ts";

const firstPauseMs = 1;
const longestPauseMs = 16;
const patienceMs = 30_000;
/** Number of tickets kept, so that a slow process still detects that others took the lock in the meantime. */
const ticketsKept = 8;

/** Mutual exclusion between processes, using only files. A holder that crashes does not block the others. */
export interface TicketLock {
  /** Runs the work with the lock, in order of requests within this process. Throws INTERNAL after waiting for 30 seconds. */
  run<T>(work: () => Promise<T> | T): Promise<T>;
}

/**
 * Tickets are numbered files, and the highest one decides: the lock is free if that ticket is marked as free or its holder has
 * exited. To take the lock, a process creates the next ticket as a hard link to its registry file, which appears atomically,
 * with its content, for one process only. Because the highest ticket is never removed, the lock of an exited holder cannot be
 * taken twice, unlike a lock file that is deleted when stale. A process that finds a higher ticket after creating its own has lost.
 */
export function openTicketLock(
  directory: string,
  registry: ProcessRegistry,
  pause: (ms: number) => Promise<void>,
): TicketLock {
  const ticket = (number: number): string => path.join(directory, String(number));
  const freeMark = (number: number): string => `${ticket(number)}.free`;
  let queue: Promise<unknown> = Promise.resolve();

  /** The ticket of this process, while it does not hold the lock, is one that it failed to mark as free. */
  const isFree = ({ highest, freed }: Tickets): boolean =>
    freed.has(highest) || !registry.lives(ticket(highest)) || registry.wrote(ticket(highest));

  const tryToTake = (): number | undefined => {
    const tickets = readTickets(directory);
    if (tickets.highest > 0 && !isFree(tickets)) return undefined;
    const number = tickets.highest + 1;
    try {
      linkSync(registry.ownFile(), ticket(number));
    } catch (error) {
      if (hasCode(error, "EEXIST")) return undefined;
      throw error;
    }
    const { all, highest, freed } = readTickets(directory);
    if (highest !== number || freed.has(number)) {
      rmSync(ticket(number), { force: true });
      return undefined;
    }
    for (const old of all) {
      if (old > number - ticketsKept) continue;
      rmSync(ticket(old), { force: true });
      rmSync(freeMark(old), { force: true });
    }
    return number;
  };

  const take = async (): Promise<number> => {
    let waited = 0;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const number = tryToTake();
      if (number !== undefined) return number;
      if (waited >= patienceMs) throw new SkillsError("INTERNAL", "The blob store stayed locked for 30 seconds.");
      await pause(pauseMs);
      waited += pauseMs;
    }
  };

  return {
    async run(work) {
      const turn = queue.then(async () => {
        const number = await take();
        try {
          return await work();
        } finally {
          linkSync(ticket(number), freeMark(number));
        }
      });
      queue = turn.catch(() => undefined); // The caller gets the error; the queue continues.
      return turn;
    },
  };
}

interface Tickets {
  readonly all: readonly number[];
  /** 0 if there is none. */
  readonly highest: number;
  readonly freed: ReadonlySet<number>;
}

function readTickets(directory: string): Tickets {
  const all: number[] = [];
  const freed = new Set<number>();
  for (const name of readdirSync(directory)) {
    const [, number, free] = /^(\d+)(\.free)?$/.exec(name) ?? [];
    if (number === undefined) continue;
    if (free !== undefined) freed.add(Number(number));
    all.push(Number(number));
  }
  return { all, highest: Math.max(0, ...all), freed };
}
