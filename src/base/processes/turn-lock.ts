import { readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { rename, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pauseFor } from "node:timers/promises";
import { identifyProcess, isRunning, parseIdentity } from "./live-process.ts";
import { attempt, systemCode } from "../failures/system-error.ts";
import { SkillsError } from "../errors.ts";
import { namesIn, syncDirectory } from "../paths/directories.ts";

interface TicketsOptions {
  /** Waits; must keep this process alive. */
  readonly pause: (ms: number) => Promise<void>;
  /** Creates a ticket of this process. Throws EEXIST if the ticket exists. */
  readonly create: (file: string) => void;
  /** Whether the turn may be taken from the process with the highest ticket. `waitedMs`: how long that ticket has been the highest. */
  readonly isOver: (ticket: { readonly number: number; readonly file: string; readonly waitedMs: number }) => boolean;
  /** Creates the error that is thrown after 30 seconds of waiting. */
  readonly stayedLocked: () => Error;
}

const firstPauseMs = 1;
const maxPauseMs = 16;
const patienceMs = 30_000;
/** The number of old tickets that remain, so that a slow process still detects that others had turns in the meantime. */
const remainingTickets = 8;
/** The highest number that may stand alone, far from other tickets; no process has counted up to a higher one. */
const maxAlone = 1e9;
const ticketForm = /^([1-9]\d{0,14})(\.free)?$/;
const stagedForm = /^([1-9]\d{0,14})\.[1-9]\d*\.staged$/;

/**
 * Lets one process at a time have its turn, through a directory that all of them share.
 *
 *     <n>       the ticket of turn <n>: names the process that has it
 *     <n>.free  the ticket of turn <n>, given back
 *
 * The highest ticket decides: the turn is free if that ticket was given back, or is over, for example because the process has exited. To
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
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      const { names, lastTicket, last, isGiven } = readTickets(this.#directory);
      if (watched.ticket !== lastTicket) watched = { ticket: lastTicket, since: waited };
      const ticket = { number: lastTicket, file: this.#file(lastTicket), waitedMs: waited - watched.since };
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
    const { lastTicket, isGiven } = readTickets(this.#directory);
    return lastTicket === number && !isGiven;
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
function turnThatStages(name: string): number | undefined {
  const [, number] = stagedForm.exec(name) ?? [];
  return number === undefined ? undefined : Number(number);
}

/** The names of entries in a directory of tickets that are neither tickets nor staged by a turn. They are ignored. */
export function foreignTo(directory: string): readonly string[] {
  const names = namesIn(directory);
  const own = new Set(names.length === 0 ? [] : readTickets(directory).names);
  return names.filter((name) => !own.has(name) && turnThatStages(name) === undefined);
}

/** Reads the tickets of a directory. `last` is the highest number in use, which may not be that of a ticket. */
function readTickets(directory: string) {
  const found = readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const [name, digits] = ticketForm.exec(entry.name) ?? [];
    return name === undefined ? [] : [{ name, number: Number(digits), isTicket: entry.isFile() }];
  });
  found.sort((one, other) => one.number - other.number);
  const possible = found.filter(({ number }, index) => {
    const gaps = [found[index - 1], found[index + 1]].map((other) => Math.abs(number - (other?.number ?? 0)));
    return number <= maxAlone || gaps.some((gap) => gap > 0 && gap <= remainingTickets);
  });
  const tickets = possible.filter(({ isTicket }) => isTicket);
  const names = tickets.map(({ name }) => name);
  const lastTicket = tickets.at(-1)?.number ?? 0;
  const isGiven = names.length === 0 || names.includes(`${lastTicket}.free`);
  return { names, lastTicket, last: possible.at(-1)?.number ?? 0, isGiven };
}

/** The right to change files while no other process does. */
export interface Turn {
  /** Replaces a file, or creates it. Durable once it resolves; after a crash there is either the old file or the new one. */
  write(file: string, text: string): Promise<void>;
  /** Creates a symbolic link to a directory (on Windows a junction), or makes an existing link lead there. */
  link(file: string, target: string): Promise<void>;
  /** Moves a file or directory to a path at which nothing exists. */
  move(from: string, to: string): void;
  /** Removes a file, or a link but not its target. */
  remove(file: string): void;
}

/** The maximum length of a turn. A longer turn is taken away: its process is stopped, or runs in another container. */
const maxTurnMs = 5_000;
const maxLost = 5;
const inUsePauseMs = 16;

/** The turn was taken away. */
class LostTurn extends Error {}

/**
 * Lets one process at a time change files, through a directory with tickets, and with files `<n>.<k>.staged` that turn <n> is writing. A
 * turn ends when its ticket is given back, its process has exited, or nothing changed for five seconds.
 *
 * A turn that was taken away can no longer change anything. The next turn first removes the staged files of other turns, so that renaming
 * them fails, and reads only then. Therefore a wrong guess about a process delays a change, but never loses one.
 */
export class TurnLock {
  readonly #directory: string;
  readonly #pause: TicketsOptions["pause"];
  readonly #tickets: Tickets;
  #turns: Promise<unknown> = Promise.resolve();

  constructor(directory: string, { pause = (ms) => pauseFor(ms) }: Partial<Pick<TicketsOptions, "pause">> = {}) {
    this.#directory = directory;
    this.#pause = pause;
    this.#tickets = new Tickets(directory, {
      pause,
      // If this process ends before the ticket is written, the turn is taken away after five seconds.
      create: (file) => writeFileSync(file, `${JSON.stringify(identifyProcess())}\n`, { flag: "wx", mode: 0o600 }),
      isOver: ({ file, waitedMs }) => waitedMs >= maxTurnMs || hasExited(file),
      stayedLocked: () => stayedLocked(directory),
    });
  }

  /**
   * Runs the work while no other process runs any; requests of this process run in their order. Repeats the work if its turn was taken
   * away. Throws UNREADABLE after 30 seconds of waiting, or five lost turns.
   */
  async exclusive<Result>(work: (turn: Turn) => Promise<Result>): Promise<Result> {
    const result = this.#turns.then(() => this.#inTurn(work));
    this.#turns = result.catch(() => undefined); // The caller gets the error; the next turn is not affected.
    return await result;
  }

  async #inTurn<Result>(work: (turn: Turn) => Promise<Result>): Promise<Result> {
    for (let lost = 0; lost < maxLost; lost++) {
      const number = await this.#tickets.take();
      try {
        this.#sweep(number);
        return await work(this.#turn(number));
      } catch (error) {
        if (!(error instanceof LostTurn)) throw error;
      } finally {
        // The ticket may have been taken away and removed. If the disk fails, others take the turn after five seconds.
        attempt(() => this.#tickets.giveBack(number), undefined);
      }
    }
    throw stayedLocked(this.#directory);
  }

  /** Removes the files that other turns staged. */
  #sweep(number: number): void {
    for (const entry of readdirSync(this.#directory, { withFileTypes: true })) {
      if (entry.isDirectory() || [undefined, number].includes(turnThatStages(entry.name))) continue;
      rmSync(path.join(this.#directory, entry.name), { force: true });
    }
  }

  #turn(number: number): Turn {
    let staged = 0;
    const ensureOwn = (): void => {
      if (!this.#tickets.has(number)) throw new LostTurn();
    };
    const stage = async (file: string, make: (temporary: string) => Promise<void>): Promise<void> => {
      staged += 1;
      const temporary = path.join(this.#directory, `${number}.${staged}.staged`);
      try {
        await make(temporary);
        await this.#replace(temporary, file);
      } catch (error) {
        rmSync(temporary, { force: true });
        throw error;
      }
    };
    return {
      write: async (file, text) => {
        await stage(file, async (temporary) => {
          await writeFile(temporary, text, { flag: "wx", mode: 0o600, flush: true });
          ensureOwn();
        });
        await syncDirectory(path.dirname(file));
      },
      link: (file, target) =>
        stage(file, async (temporary) => {
          await symlink(target, temporary, "junction");
          ensureOwn();
          // Windows replaces no directory by a directory.
          if (process.platform === "win32") rmSync(file, { force: true });
        }),
      move: (from, to) => {
        ensureOwn();
        renameSync(from, to);
      },
      remove: (file) => {
        ensureOwn();
        rmSync(file, { force: true });
      },
    };
  }

  async #replace(temporary: string, file: string): Promise<void> {
    for (let waited = 0; ; waited += inUsePauseMs) {
      try {
        await rename(temporary, file);
        return;
      } catch (error) {
        const code = systemCode(error);
        if (code === "ENOENT") throw new LostTurn();
        // Windows refuses while a virus scanner or an indexer reads the file.
        const isInUse = process.platform === "win32" && ["EPERM", "EACCES", "EBUSY"].includes(code);
        if (!isInUse || waited >= maxTurnMs) throw error;
        await this.#pause(inUsePauseMs);
      }
    }
  }
}

function hasExited(ticket: string): boolean {
  // Unreadable if the ticket was just given back.
  const holder = parseIdentity(attempt(() => readFileSync(ticket, "utf8"), ""));
  return holder !== undefined && isRunning(holder) === false;
}

function stayedLocked(directory: string): SkillsError {
  const message = `${directory} stayed locked by other processes for 30 seconds; nothing was changed.`;
  const hint = "Try again. If it happens every time, stop the acp-skills processes that hang.";
  return new SkillsError("UNREADABLE", message, { facts: { path: directory, hint } });
}
