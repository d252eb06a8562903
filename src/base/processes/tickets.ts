import { readdirSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { systemCode } from "../failures/system-error.ts";
import { namesIn } from "../paths/directories.ts";

export interface TicketsOptions {
  /** Waits; must keep this process alive. */
  readonly pause: (ms: number) => Promise<void>;
  /** Creates a ticket of this process. Throws EEXIST if there is one. */
  readonly create: (file: string) => void;
  /** Whether the turn may be taken from the process with the highest ticket, which has been so for this long. */
  readonly isOver: (ticket: { readonly number: number; readonly file: string; readonly waitedMs: number }) => boolean;
  /** What is thrown after 30 seconds of waiting. */
  readonly stayedLocked: () => Error;
}

const firstPauseMs = 1;
const longestPauseMs = 16;
const patienceMs = 30_000;
/** The number of tickets that stay, so that a slow process still detects that others had turns in the meantime. */
const remainingTickets = 8;
/** Nobody has counted up to a higher number that stands alone. */
const highestAlone = 1e9;
const ticketForm = /^([1-9]\d{0,14})(\.free)?$/;
const stagedForm = /^([1-9]\d{0,14})\.[1-9]\d*\.staged$/;

/**
 * Lets one process at a time have its turn, through a directory that all of them share.
 *
 *     <n>       the ticket of turn <n>: which process has it
 *     <n>.free  the ticket of turn <n>, given back
 *
 * The highest ticket decides: the turn is free if that ticket was given back, or is over, for example because its process has exited. To
 * take the turn, a process creates the next ticket, which succeeds for one process only. Because the highest ticket is never removed, a
 * turn cannot be taken twice, unlike a lock file that is deleted when it is stale. Any other file, or one with an impossible number, is
 * ignored: see `foreignTo`.
 */
export class Tickets {
  readonly #directory: string;
  readonly #options: TicketsOptions;

  constructor(directory: string, options: TicketsOptions) {
    this.#directory = directory;
    this.#options = options;
  }

  /** Waits for the turn, and returns its number. */
  async take(): Promise<number> {
    const { isOver, stayedLocked, pause } = this.#options;
    let waited = 0;
    let watched = { ticket: -1, since: 0 };
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const { names, highest, last, isGiven } = readTickets(this.#directory);
      if (watched.ticket !== highest) watched = { ticket: highest, since: waited };
      const ticket = { number: highest, file: this.#file(highest), waitedMs: waited - watched.since };
      if ((isGiven || isOver(ticket)) && this.#create(last + 1, names)) return last + 1;
      if (waited >= patienceMs) throw stayedLocked();
      await pause(pauseMs);
      waited += pauseMs;
    }
  }

  giveBack(number: number): void {
    renameSync(this.#file(number), `${this.#file(number)}.free`);
  }

  /** Whether the turn was neither given back nor taken away. */
  has(number: number): boolean {
    const { highest, isGiven } = readTickets(this.#directory);
    return highest === number && !isGiven;
  }

  /** False if another process was faster. */
  #create(number: number, before: readonly string[]): boolean {
    for (const name of before)
      if (Number.parseInt(name, 10) <= number - remainingTickets)
        rmSync(path.join(this.#directory, name), { force: true });
    const file = this.#file(number);
    try {
      this.#options.create(file);
    } catch (error) {
      if (systemCode(error) === "EEXIST") return false;
      throw error;
    }
    if (this.has(number)) return true;
    // Others had this turn and later ones since the tickets were listed.
    rmSync(file, { force: true });
    return false;
  }

  #file(number: number): string {
    return path.join(this.#directory, String(number));
  }
}

/** The turn that is writing a file of this name; undefined for any other name. */
export function turnThatStages(name: string): number | undefined {
  const [, number] = stagedForm.exec(name) ?? [];
  return number === undefined ? undefined : Number(number);
}

/** The names of entries in a directory of tickets that are neither tickets nor staged by a turn. They are ignored. */
export function foreignTo(directory: string): readonly string[] {
  const names = namesIn(directory);
  const own = new Set(names.length === 0 ? [] : readTickets(directory).names);
  return names.filter((name) => !own.has(name) && turnThatStages(name) === undefined);
}

/** `last` is the highest number in use, which may not be that of a ticket. */
function readTickets(directory: string) {
  const found = readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const [name, digits] = ticketForm.exec(entry.name) ?? [];
    return name === undefined ? [] : [{ name, number: Number(digits), isTicket: entry.isFile() }];
  });
  found.sort((one, other) => one.number - other.number);
  const possible = found.filter(({ number }, place) => {
    const gaps = [found[place - 1], found[place + 1]].map((other) => Math.abs(number - (other?.number ?? 0)));
    return number <= highestAlone || gaps.some((gap) => gap > 0 && gap <= remainingTickets);
  });
  const tickets = possible.filter(({ isTicket }) => isTicket);
  const names = tickets.map(({ name }) => name);
  const highest = tickets.at(-1)?.number ?? 0;
  const isGiven = names.length === 0 || names.includes(`${highest}.free`);
  return { names, highest, last: possible.at(-1)?.number ?? 0, isGiven };
}
