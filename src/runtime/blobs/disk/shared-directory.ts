import { closeSync, linkSync, openSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { attempt, systemCode } from "../../../base/failures/system-error.ts";
import { type Clock, every } from "../../../base/clock.ts";
import { identifyProcess, isRunning, parseIdentity } from "../../../base/processes/live-process.ts";
import { Tickets } from "../../../base/processes/turn-lock.ts";
import { SkillsError } from "../../../base/errors.ts";
import { type DiskLayout, createFlags, fileMode, isFull, readIfFile } from "./disk-layout.ts";

const beatMs = 15_000;
const staleMs = 120_000;

export interface SharedDirectoryOptions {
  /** Unique, because two instances with the same token would not exclude each other. */
  readonly token: string;
  /** Drives the heartbeat that shows processes in other containers that this one is running. */
  readonly clock: Clock;
  /** The time of the disk's clock, which all processes on all machines share, in milliseconds since 1970. Default: read from the disk. */
  readonly diskNow?: (() => number) | undefined;
  /** Waits while another process has the lock; unlike a timer of `clock`, it must keep this process alive. */
  readonly pause: (ms: number) => Promise<void>;
}

/**
 * A store directory that several processes change. Its files show which processes run, whose turn it is, and which blobs are in use. Each
 * process has a file with its identity in `processes`, touched every 15 seconds. The names of its other files begin with its token, except
 * for tickets, which are hard links to the file with the identity.
 */
export class SharedDirectory {
  readonly layout: DiskLayout;
  readonly token: string;
  readonly #options: SharedDirectoryOptions;
  readonly #file: string;
  #isBlank = true;
  #knownNow = Date.now();
  readonly #stopBeat: () => void;
  #left: Error | undefined;
  #turns: Promise<unknown> = Promise.resolve();
  readonly #tickets: Tickets;
  #lastTicket = 0;
  #holds = 0;

  /** Registers this process. */
  constructor(layout: DiskLayout, options: SharedDirectoryOptions) {
    this.layout = layout;
    this.token = options.token;
    this.#options = options;
    this.#file = path.join(layout.processes, options.token);
    this.#tickets = new Tickets(layout.lock, {
      pause: options.pause,
      create: (file) => {
        this.diskNow(); // Registers this process if necessary.
        // A hard link appears atomically, with its content.
        linkSync(this.#file, file);
      },
      // An earlier ticket of this instance still exists if it could not be given back.
      isOver: ({ number, file }) => number === this.#lastTicket || !this.#isWriterRunning(file),
      stayedLocked: () => new SkillsError("INTERNAL", "The blob store stayed locked for 30 seconds."),
    });
    this.diskNow();
    // Fails if the disk is missing: the next method call reports that to its caller.
    this.#stopBeat = every(options.clock, beatMs, () => attempt(() => this.diskNow(), undefined));
  }

  /**
   * The time of the disk's clock, in milliseconds since 1970. All times of a store come from it, so that a process or a machine with a
   * wrong clock does not expire anything early. Registers this process again if its file is missing.
   */
  diskNow(): number {
    try {
      this.#touch();
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
      closeSync(openSync(this.#file, createFlags, fileMode));
      this.#isBlank = true;
    }
    if (this.#isBlank) this.#introduce();
    // The change time was just set by the disk's clock.
    this.#knownNow = this.#options.diskNow?.() ?? statSync(this.#file).ctimeMs;
    this.#touch();
    return this.#knownNow;
  }

  /**
   * Runs work while no other process runs any; within this process, in the order of requests. A process that crashes does not block the
   * others. Throws INTERNAL after waiting for 30 seconds.
   */
  async exclusive<T>(work: () => Promise<T> | T): Promise<T> {
    if (this.#left !== undefined) throw this.#left;
    const turn = this.#turns.then(async () => {
      const number = (this.#lastTicket = await this.#tickets.take());
      try {
        return await work();
      } finally {
        this.#tickets.giveBack(number);
      }
    });
    this.#turns = turn.catch(() => undefined); // The caller gets the error; the next turn comes.
    return turn;
  }

  /** Protects a blob from sweeps. Requires the turn, unlike the returned function. */
  hold(key: string): () => void {
    this.#holds += 1;
    const file = path.join(this.layout.leases, `${this.token}.${key}.${this.#holds}`);
    closeSync(openSync(file, createFlags, fileMode));
    return () => rmSync(file, { force: true });
  }

  /** The keys of all blobs in use by running processes. Requires the turn. */
  heldKeys(): ReadonlySet<string> {
    const leases = readdirSync(this.layout.leases).map((name) => name.split("."));
    const running = this.#runningTokens();
    return new Set(leases.filter(([token = ""]) => running.has(token)).map(([, key = ""]) => key));
  }

  /** Removes the files of processes that exited. */
  sweepDead(): void {
    this.#removeFiles((token, running) => !running.has(token));
  }

  /** Ends the registration and the holds of this process once its turns are over. From now on, `exclusive` throws `reason`. */
  async close(reason: Error): Promise<void> {
    this.#left ??= reason;
    await this.#turns;
    this.leave(reason);
  }

  /** Does the same as `close`, but immediately. */
  leave(reason: Error): void {
    this.#left ??= reason;
    this.#stopBeat();
    // Fails if the directory is missing or not writable; then no file of this process there can block other processes.
    attempt(() => this.#removeFiles((token) => token === this.token), undefined);
  }

  #touch(): void {
    utimesSync(this.#file, this.#knownNow / 1000, this.#knownNow / 1000);
  }

  /** Writes the identity of this process. On a full disk, an empty file is sufficient, so that this process can free disk space. */
  #introduce(): void {
    try {
      writeFileSync(this.#file, `${JSON.stringify(identifyProcess())}\n`, { flag: "r+" });
      this.#isBlank = false;
    } catch (error) {
      if (!isFull(error)) throw error;
    }
  }

  /** Whether the process that wrote this file (or a hard link to it) is still running. False if the file is missing. */
  #isWriterRunning(file: string): boolean {
    const found = readIfFile(file);
    if (found === undefined) return false;
    const identity = parseIdentity(found.text);
    // Without an identity, the file is possibly still being written.
    return (identity && isRunning(identity)) ?? this.diskNow() - found.modifiedAt < staleMs;
  }

  #runningTokens(): ReadonlySet<string> {
    const { processes } = this.layout;
    const others = readdirSync(processes).filter((token) => this.#isWriterRunning(path.join(processes, token)));
    return new Set([this.token, ...others]);
  }

  #removeFiles(isGone: (token: string, running: ReadonlySet<string>) => boolean): void {
    // Processes last, because their files determine who is running.
    for (const room of [this.layout.leases, this.layout.staging, this.layout.processes]) {
      const names = readdirSync(room);
      const running = this.#runningTokens(); // Read after the names, because a process is registered before it writes anything.
      for (const name of names) {
        const [token = ""] = name.split(".");
        if (isGone(token, running)) rmSync(path.join(room, name), { force: true, recursive: true });
      }
    }
  }
}
