import type { Clock } from "../../base/clock.ts";
import { latestWork } from "../../base/promises.ts";

export interface QueueOptions {
  readonly clock: Clock;
  /** Writes lines in their order; they are durable when it resolves. Equal numbers mean equal lines, which are written once. */
  readonly write: (lines: readonly string[], number: number) => Promise<void>;
  /** Called once when lines cannot be written, and once when they can again, with undefined. */
  readonly onFault: (fault: string | undefined) => void;
}

/** The maximum number of lines that wait to be written; further ones are refused. */
const maxWaiting = 20_000;
const maxWaitingCharacters = 16 * 1024 * 1024;
const maxBatch = 500;
const retryMs = 1_000;

/** A queue of lines that are written in order, one batch at a time. A failed batch is written again until it succeeds. */
export class LedgerQueue {
  readonly #options: QueueOptions;
  readonly #waiting: string[] = [];
  #characters = 0;
  /** How many of the first lines form the batch that is being written, or has to be written again. */
  #batch = 0;
  #number = 0;
  #fault: string | undefined;
  #stopTimer = (): void => undefined;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Adds a line, or returns why it cannot be taken. */
  add(line: string): string | undefined {
    const { length } = this.#waiting;
    if (length >= maxWaiting || this.#characters + line.length > maxWaitingCharacters)
      return `${length} rows wait for the database of the cluster${this.#fault === undefined ? "" : `: ${this.#fault}`}`;
    this.#waiting.push(line);
    this.#characters += line.length;
    if (this.#fault === undefined) void this.#write();
    return undefined;
  }

  /** Waits until the lines that were added before are durable, or an attempt to write has failed. Returns why it failed. */
  async flush(): Promise<string | undefined> {
    await this.#write();
    return this.#fault;
  }

  /** Stops the next retry. */
  stop(): void {
    this.#stopTimer();
  }

  /** Writes the waiting lines. Never rejects. */
  readonly #write = latestWork(
    async () => {
      this.#stopTimer();
      // Lines of the same moment form one batch.
      await Promise.resolve();
      for (let left = this.#waiting.length; left > 0;) {
        if (this.#batch === 0) {
          this.#batch = Math.min(left, maxBatch);
          this.#number++;
        }
        await this.#options.write(this.#waiting.slice(0, this.#batch), this.#number);
        for (const { length } of this.#waiting.splice(0, this.#batch)) this.#characters -= length;
        left -= this.#batch;
        this.#batch = 0;
      }
      if (this.#fault !== undefined) this.#options.onFault(undefined);
      this.#fault = undefined;
    },
    (error) => {
      const isFirst = this.#fault === undefined;
      this.#fault = (error instanceof Error ? error.message : String(error)).slice(0, 300);
      if (isFirst) this.#options.onFault(this.#fault);
      this.#stopTimer = this.#options.clock.after(retryMs, () => void this.#write());
    },
  );
}
