import { SkillsError } from "../../base/errors.ts";

export interface RunQueueOptions {
  readonly concurrency: number;
  /** The maximum number of waiting runs of all owners; one owner may have no more of them than there is room left. */
  readonly maxWaiting: number;
}

/** Admits a few runs at a time, owners in turn (round robin). */
export class RunQueue {
  readonly #options: RunQueueOptions;
  /** The functions that admit waiting runs, by owner in the order of the next turns; no list is empty. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #count = 0;
  #running = 0;

  constructor(options: RunQueueOptions) {
    this.#options = options;
  }

  /**
   * Waits for a turn; the returned function ends it. Rejects with RUNTIME_BUSY if there is no room, or with the reason of `signal`.
   * A run that enters stays. Calls `admitted` at once with the number of runs that are running or queued before it; 0: its turn starts.
   */
  async enter(owner: string, signal: AbortSignal, admitted?: (behind: number) => void): Promise<() => void> {
    signal.throwIfAborted();
    const line = this.#waiting.get(owner) ?? [];
    if (this.#running < this.#options.concurrency) {
      admitted?.(0);
      return this.#takeTurn();
    }
    if (line.length >= this.#options.maxWaiting - this.#count) throw busy(this.#count);
    admitted?.(this.#running + this.#count);
    return await new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#remove(owner, admit);
        reject(signal.reason as Error);
      };
      const admit = (): void => {
        signal.removeEventListener("abort", giveUp);
        resolve(this.#takeTurn());
      };
      signal.addEventListener("abort", giveUp, { once: true });
      this.#waiting.set(owner, [...line, admit]);
      this.#count += 1;
    });
  }

  /** Starts a turn. The returned function ends it; a second call has no effect. */
  #takeTurn(): () => void {
    this.#running += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#running -= 1;
      const [owner = "", [next] = []] = this.#waiting.entries().next().value ?? [];
      if (next === undefined) return;
      // An owner who had a turn goes to the end of the line.
      const rest = this.#remove(owner, next);
      this.#waiting.delete(owner);
      if (rest.length > 0) this.#waiting.set(owner, rest);
      next();
    };
  }

  #remove(owner: string, admit: () => void): (() => void)[] {
    const rest = (this.#waiting.get(owner) ?? []).filter((other) => other !== admit);
    this.#count -= 1;
    if (rest.length > 0) this.#waiting.set(owner, rest);
    else this.#waiting.delete(owner);
    return rest;
  }
}

function busy(count: number): SkillsError {
  const hint = "Wait a second, or for one of your runs to end, and try again.";
  return new SkillsError("RUNTIME_BUSY", `The queue is full: ${count} runs are waiting.`, { facts: { hint } });
}
