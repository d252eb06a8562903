import { SkillsError } from "../../base/errors.ts";

/** Admits a few runs at a time, owners in turn (round robin). */
export interface RunQueue {
  /**
   * Waits for a turn; the returned function ends it. Rejects with RUNTIME_BUSY when there is no place, and with the reason of `signal`.
   * Who has a place keeps it: `admitted` is called at once with how many runs are running or queued before it, 0 if it has its turn.
   */
  enter(owner: string, signal: AbortSignal, admitted?: (behind: number) => void): Promise<() => void>;
}

export interface RunQueueOptions {
  readonly concurrency: number;
  /** How many runs of all owners may wait; of one owner, at most as many as there are places left for others. */
  readonly maxWaiting: number;
}

export function createRunQueue({ concurrency, maxWaiting }: RunQueueOptions): RunQueue {
  /** Owners in the order of their next turn; no list is empty. */
  const waiting = new Map<string, (() => void)[]>();
  let count = 0;
  let running = 0;

  /** A turn; ending it twice gives no second one to others. */
  function takeTurn(): () => void {
    running += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      running -= 1;
      const [owner, [next] = []] = waiting.entries().next().value ?? [];
      if (owner === undefined || next === undefined) return;
      // An owner who had a turn goes to the end of the line.
      const rest = remove(owner, next);
      waiting.delete(owner);
      if (rest.length > 0) waiting.set(owner, rest);
      next();
    };
  }

  function remove(owner: string, admit: () => void): (() => void)[] {
    const line = waiting.get(owner) ?? [];
    const rest = line.filter((other) => other !== admit);
    count -= line.length - rest.length;
    if (rest.length > 0) waiting.set(owner, rest);
    else waiting.delete(owner);
    return rest;
  }

  return {
    async enter(owner, signal, admitted = () => undefined) {
      signal.throwIfAborted();
      if (running < concurrency) {
        admitted(0);
        return takeTurn();
      }
      if ((waiting.get(owner)?.length ?? 0) >= maxWaiting - count) throw busy(count);
      admitted(running + count);
      return await new Promise((resolve, reject) => {
        const giveUp = (): void => {
          remove(owner, admit);
          reject(signal.reason as Error);
        };
        const admit = (): void => {
          signal.removeEventListener("abort", giveUp);
          resolve(takeTurn());
        };
        signal.addEventListener("abort", giveUp, { once: true });
        waiting.set(owner, [...(waiting.get(owner) ?? []), admit]);
        count += 1;
      });
    },
  };
}

function busy(count: number): SkillsError {
  const hint = "Wait a second, or for one of your runs to end, and try again.";
  return new SkillsError("RUNTIME_BUSY", `The queue is full: ${count} runs are waiting.`, { facts: { hint } });
}
