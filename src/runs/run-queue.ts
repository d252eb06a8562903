import { SkillsError } from "../errors.ts";

/** Admits a few runs at a time, owners in turn (round robin). */
export interface RunQueue {
  /**
   * Waits for a turn; the returned function ends it. Rejects with RUNTIME_BUSY when the queue is full, or later, when an owner with
   * more queued runs than others has to make room; and with the reason of `signal`.
   */
  enter(owner: string, signal: AbortSignal): Promise<() => void>;
}

export interface RunQueueOptions {
  readonly concurrency: number;
  /** Of all owners together. */
  readonly maxWaiting: number;
}

interface Waiting {
  readonly admit: () => void;
  readonly refuse: (error: Error) => void;
}

export function createRunQueue({ concurrency, maxWaiting }: RunQueueOptions): RunQueue {
  /** Owners in the order of their next turn. */
  const waiting = new Map<string, Waiting[]>();
  let count = 0;
  let running = 0;

  function leave(): void {
    running -= 1;
    const [owner, line] = waiting.entries().next().value ?? [];
    const next = line?.shift();
    if (owner === undefined || line === undefined || next === undefined) return;
    // An owner who had a turn goes to the end of the line.
    waiting.delete(owner);
    if (line.length > 0) waiting.set(owner, line);
    count -= 1;
    running += 1;
    next.admit();
  }

  /** In a full queue, the owner with the most queued runs loses the last one to an owner with clearly fewer. */
  function makeRoom(owner: string): boolean {
    const [most, line] = [...waiting].reduce((a, b) => (b[1].length > a[1].length ? b : a));
    if (line.length <= (waiting.get(owner)?.length ?? 0) + 1) return false;
    line.pop()?.refuse(busy(count));
    if (line.length === 0) waiting.delete(most);
    count -= 1;
    return true;
  }

  function once(): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      leave();
    };
  }

  return {
    async enter(owner, signal) {
      signal.throwIfAborted();
      if (running < concurrency) {
        running += 1;
        return once();
      }
      if (count >= maxWaiting && (count === 0 || !makeRoom(owner))) throw busy(count);
      return await new Promise((resolve, reject) => {
        const entry: Waiting = {
          admit() {
            signal.removeEventListener("abort", giveUp);
            resolve(once());
          },
          refuse(error) {
            signal.removeEventListener("abort", giveUp);
            reject(error);
          },
        };
        const giveUp = (): void => {
          const line = waiting.get(owner) ?? [];
          const place = line.indexOf(entry);
          if (place < 0) return;
          line.splice(place, 1);
          if (line.length === 0) waiting.delete(owner);
          count -= 1;
          reject(signal.reason as Error);
        };
        signal.addEventListener("abort", giveUp, { once: true });
        const line = waiting.get(owner);
        if (line) line.push(entry);
        else waiting.set(owner, [entry]);
        count += 1;
      });
    },
  };
}

function busy(count: number): SkillsError {
  const hint = "Wait a second, or for one of your runs to end, and try again.";
  return new SkillsError("RUNTIME_BUSY", `The queue is full: ${count} runs are waiting.`, { facts: { hint } });
}
