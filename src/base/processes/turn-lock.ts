import { readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { rename, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pauseFor } from "node:timers/promises";
import { identifyProcess, isRunning, parseIdentity } from "./live-process.ts";
import { attempt, systemCode } from "../failures/system-error.ts";
import { SkillsError } from "../errors.ts";
import { Tickets, type TicketsOptions, turnThatStages } from "./tickets.ts";
import { syncDirectory } from "../paths/directories.ts";

/** The right to change files while nobody else does. */
export interface Turn {
  /** Replaces a file, or creates it. Durable when it resolves; after a crash it is the old or the new one. */
  write(file: string, text: string): Promise<void>;
  /** Creates a symbolic link to a directory (on Windows a junction), or makes an existing one lead there. */
  link(place: string, target: string): Promise<void>;
  /** Moves a file or directory to a place where there is none. */
  move(from: string, to: string): void;
  /** Removes a file, or a link itself. */
  remove(file: string): void;
}

/** A turn that takes longer is taken away: its process is stopped, or in another container. */
const longestTurnMs = 5_000;
const maxLost = 5;
const inUsePauseMs = 16;

/** The turn was taken away. */
class LostTurn extends Error {}

/**
 * Lets one process at a time change files, through a directory with tickets, and with files `<n>.<k>.staged` that turn <n> is writing.
 * A turn ends when its ticket is given back, its process has exited, or nothing changed for five seconds.
 *
 * A turn that was taken away changes nothing any more: the next one first removes what others staged, so that renaming it fails, and only
 * then reads. Therefore a wrong guess about a process delays a change, but never loses one.
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
      // If this process ends before it is written, the turn is taken away after five seconds.
      create: (file) => writeFileSync(file, `${JSON.stringify(identifyProcess())}\n`, { flag: "wx", mode: 0o600 }),
      isOver: ({ file, waitedMs }) => waitedMs >= longestTurnMs || hasExited(file),
      stayedLocked: () => stayedLocked(directory),
    });
  }

  /**
   * Runs the work while no other process runs any, in order of requests within this process; again if its turn was taken away. Throws
   * UNREADABLE after 30 seconds of waiting, or five lost turns.
   */
  async exclusive<Result>(work: (turn: Turn) => Promise<Result>): Promise<Result> {
    const result = this.#turns.then(() => this.#inTurn(work));
    this.#turns = result.catch(() => undefined); // The caller gets the error; the next turn comes.
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
        // It may have been taken away and removed; or the disk fails, and others take the turn after five seconds.
        attempt(() => this.#tickets.giveBack(number), undefined);
      }
    }
    throw stayedLocked(this.#directory);
  }

  /** Removes what other turns left behind. */
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
      link: (place, target) =>
        stage(place, async (temporary) => {
          await symlink(target, temporary, "junction");
          ensureOwn();
          // Windows replaces no directory by a directory.
          if (process.platform === "win32") rmSync(place, { force: true });
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
        if (!isInUse || waited >= longestTurnMs) throw error;
        await this.#pause(inUsePauseMs);
      }
    }
  }
}

function hasExited(ticket: string): boolean {
  // Unreadable where it was just given back.
  const holder = parseIdentity(attempt(() => readFileSync(ticket, "utf8"), ""));
  return holder !== undefined && isRunning(holder) === false;
}

function stayedLocked(directory: string): SkillsError {
  const message = `${directory} stayed locked by other processes for 30 seconds; nothing was changed.`;
  const hint = "Try again. If it happens every time, stop the acp-skills processes that hang.";
  return new SkillsError("UNREADABLE", message, { facts: { path: directory, hint } });
}
