import type { Clock } from "../../base/clock.ts";

export interface QueueOptions {
  readonly clock: Clock;
  /** Lines that are written at once. */
  readonly batch?: number | undefined;
  /** Writes lines in their order; when it resolves, they are durable. The same number means the same lines, which are written once. */
  readonly write: (lines: readonly string[], number: number) => Promise<void>;
  /** Called when lines cannot be written, and when they can again; not each time. */
  readonly onFault: (fault: string | undefined) => void;
}

/** What waits to be written. Beyond, recording is refused. */
const maxWaiting = 20_000;
const maxWaitingCharacters = 16 * 1024 * 1024;
const maxBatch = 500;
/** After a failure: the first attempt, and the longest pause between later ones. */
const firstPauseMs = 200;
const longestPauseMs = 5_000;

/** Lines that are written in their order, one batch at a time, and again after each failure until they are. */
export class LedgerQueue {
  readonly #options: QueueOptions;
  readonly #waiting: string[] = [];
  #characters = 0;
  /** The lines of the batch that is being written, or has to be written again. */
  #batch: readonly string[] = [];
  #number = 0;
  #added = 0;
  #written = 0;
  #writing: Promise<string | undefined> | undefined;
  #fault: string | undefined;
  #pause = firstPauseMs;
  #stopTimer = (): void => undefined;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Returns why a line cannot be taken. */
  add(line: string): string | undefined {
    if (this.waiting >= maxWaiting || this.#characters + line.length > maxWaitingCharacters)
      return `${this.waiting} rows wait for the database of the cluster${this.#fault === undefined ? "" : `: ${this.#fault}`}`;
    this.#waiting.push(line);
    this.#characters += line.length;
    this.#added++;
    if (this.#writing === undefined && this.#fault === undefined) void this.#write();
    return undefined;
  }

  /** Waits until what was added before is durable, or an attempt to write has failed; returns why. */
  async flush(): Promise<string | undefined> {
    for (const wanted = this.#added; this.#written < wanted;) {
      const fault = await (this.#writing ?? this.#write());
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  get waiting(): number {
    return this.#added - this.#written;
  }

  /** Stops trying again by itself. */
  stop(): void {
    this.#stopTimer();
  }

  /** Writes one batch, and goes on with the next one. Never rejects. */
  #write(): Promise<string | undefined> {
    this.#stopTimer();
    return (this.#writing = this.#attempt().then((fault) => {
      this.#writing = undefined;
      if (fault !== this.#fault && (fault === undefined || this.#fault === undefined)) this.#options.onFault(fault);
      this.#fault = fault;
      if (fault === undefined) {
        this.#pause = firstPauseMs;
        if (this.#waiting.length > 0) void this.#write();
      } else {
        this.#stopTimer = this.#options.clock.after(this.#pause, () => void (this.#writing ?? this.#write()));
        this.#pause = Math.min(longestPauseMs, 2 * this.#pause);
      }
      return fault;
    }));
  }

  async #attempt(): Promise<string | undefined> {
    // What is recorded at the same moment is one batch.
    await Promise.resolve();
    if (this.#batch.length === 0) {
      this.#batch = this.#waiting.splice(0, this.#options.batch ?? maxBatch);
      this.#characters -= this.#batch.reduce((sum, { length }) => sum + length, 0);
      this.#number++;
    }
    try {
      if (this.#batch.length > 0) await this.#options.write(this.#batch, this.#number);
      this.#written += this.#batch.length;
      this.#batch = [];
      return undefined;
    } catch (error) {
      return (error instanceof Error ? error.message : String(error)).slice(0, 300);
    }
  }
}
