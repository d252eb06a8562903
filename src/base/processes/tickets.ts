import { readdirSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { systemCode } from "../failures/system-code.ts";

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
/** Number of tickets kept, so that a slow process still detects that others had turns in the meantime. */
const ticketsKept = 8;
const ticketForm = /^(\d{1,15})(\.free)?$/;

/**
 * Lets one process at a time have its turn, through a directory that all of them share.
 *
 *     <n>       the ticket of turn <n>: which process has it
 *     <n>.free  the same, given back
 *
 * The highest ticket decides: the turn is free if that ticket was given back, or is over, for example because its process has exited. To
 * take the turn, a process creates the next ticket, which succeeds for one process only. Because the highest ticket is never removed, a
 * turn cannot be taken twice, unlike a lock file that is deleted when it is stale.
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
      const { names, highest, isGiven } = this.#read();
      if (watched.ticket !== highest) watched = { ticket: highest, since: waited };
      const ticket = { number: highest, file: this.#file(highest), waitedMs: waited - watched.since };
      if ((isGiven || isOver(ticket)) && this.#create(highest + 1, names)) return highest + 1;
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
    const { highest, isGiven } = this.#read();
    return highest === number && !isGiven;
  }

  /** False if another process was faster. */
  #create(number: number, before: readonly string[]): boolean {
    for (const name of before)
      if (Number.parseInt(name, 10) <= number - ticketsKept) rmSync(path.join(this.#directory, name), { force: true });
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

  #read(): { readonly names: readonly string[]; readonly highest: number; readonly isGiven: boolean } {
    const names = readdirSync(this.#directory).filter((name) => ticketForm.test(name));
    const highest = Math.max(0, ...names.map((name) => Number.parseInt(name, 10)));
    return { names, highest, isGiven: names.length === 0 || names.includes(`${highest}.free`) };
  }

  #file(number: number): string {
    return path.join(this.#directory, String(number));
  }
}
