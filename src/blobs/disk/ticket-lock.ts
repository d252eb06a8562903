import { linkSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { SkillsError } from "../../errors.ts";
import { hasCode } from "./disk-layout.ts";
import type { ProcessRegistry } from "./process-registry.ts";

const firstPauseMs = 1;
const longestPauseMs = 16;
const patienceMs = 30_000;
/** Tickets that stay after they are done with, so that a process that looks slowly still sees that it came too late. */
const ticketsKept = 8;

/** Mutual exclusion between processes, by files alone. A holder that dies does not keep the others waiting. */
export interface TicketLock {
  /** Runs the work alone. In this process the first to ask is the first served. Throws INTERNAL after 30 seconds of waiting. */
  run<T>(work: () => Promise<T> | T): Promise<T>;
}

/**
 * Tickets are numbered files, and the highest one decides: the lock is free when that ticket is marked so or its holder is
 * dead. To take it, a process makes the next ticket, as a hard link to the file that says who it is: that appears in one step,
 * for one process only, with its content. Because the highest ticket is never removed, nobody can take a dead holder's
 * lock twice, the flaw of a lock file that the finder deletes; and who finds a higher ticket after making its own came too late.
 */
export function openTicketLock(
  directory: string,
  registry: ProcessRegistry,
  pause: (ms: number) => Promise<void>,
): TicketLock {
  const ticket = (number: number): string => path.join(directory, String(number));
  const freeMark = (number: number): string => `${ticket(number)}.free`;
  let queue: Promise<unknown> = Promise.resolve();

  /** A ticket of our own, while we hold nothing, is one that we could not mark as free. */
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
      queue = turn.catch(() => undefined); // Whoever asked hears of it; the next one's turn comes all the same.
      return turn;
    },
  };
}

interface Tickets {
  readonly all: readonly number[];
  /** 0 when there is none. */
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
