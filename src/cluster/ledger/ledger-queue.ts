import type { Clock } from "../../base/clock.ts";
import { latestWork } from "../../base/promises.ts";

export interface QueueOptions {
  readonly clock: Clock;
  /** Writes lines in their order; when it resolves, they are durable. The same number means the same lines, which are written once. */
  readonly write: (lines: readonly string[], number: number) => Promise<void>;
  /** Called when lines cannot be written, and when they can again; not each time. */
  readonly onFault: (fault: string | undefined) => void;
}

/** What waits to be written. Beyond, recording is refused. */
const maxWaiting = 20_000;
const maxWaitingCharacters = 16 * 1024 * 1024;
const maxBatch = 500;
const retryMs = 1_000;

/** Lines that are written in their order, one batch at a time, and again after each failure until they are. */
export class LedgerQueue {
  readonly #options: QueueOptions;
  readonly #waiting: string[] = [];
  #characters = 0;
  /** How many of the first lines are the batch that is being written, or has to be written again. */
  #batch = 0;
  #number = 0;
  #fault: string | undefined;
  #stopTimer = (): void => undefined;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Returns why a line cannot be taken. */
  add(line: string): string | undefined {
    const { length } = this.#waiting;
    if (length >= maxWaiting || this.#characters + line.length > maxWaitingCharacters)
      return `${length} rows wait for the database of the cluster${this.#fault === undefined ? "" : `: ${this.#fault}`}`;
    this.#waiting.push(line);
    this.#characters += line.length;
    if (this.#fault === undefined) void this.#write();
    return undefined;
  }

  /** Waits until what was added before is durable, or an attempt to write has failed; returns why. */
  async flush(): Promise<string | undefined> {
    await this.#write();
    return this.#fault;
  }

  /** Stops trying again by itself. */
  stop(): void {
    this.#stopTimer();
  }

  /** Writes what waits. Never rejects. */
  readonly #write = latestWork(
    async () => {
      this.#stopTimer();
      // What is recorded at the same moment is one batch.
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
