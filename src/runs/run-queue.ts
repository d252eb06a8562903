import { SkillsError } from "../errors.ts";

/** Admits a few runs at a time, owners in turn (round robin). */
export interface RunQueue {
  /** The runs that are running or queued, where the next one has to wait for a turn; else 0. */
  readonly behind: number;
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
  /** Owners in the order of their next turn; no list is empty. */
  const waiting = new Map<string, Waiting[]>();
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
      next.admit();
    };
  }

  function remove(owner: string, entry: Waiting): Waiting[] {
    const line = waiting.get(owner) ?? [];
    const rest = line.filter((other) => other !== entry);
    count -= line.length - rest.length;
    if (rest.length > 0) waiting.set(owner, rest);
    else waiting.delete(owner);
    return rest;
  }

  /** In a full queue, the owner with the most queued runs loses the last one to an owner with clearly fewer. */
  function makeRoom(owner: string): void {
    const lines = [...waiting].sort(([, a], [, b]) => b.length - a.length);
    const [most = "", line = []] = lines[0] ?? [];
    const last = line.at(-1);
    if (last === undefined || line.length <= (waiting.get(owner)?.length ?? 0) + 1) throw busy(count);
    last.refuse(busy(count));
    remove(most, last);
  }

  return {
    get behind() {
      return running < concurrency ? 0 : running + count;
    },
    async enter(owner, signal) {
      signal.throwIfAborted();
      if (running < concurrency) return takeTurn();
      if (count >= maxWaiting) makeRoom(owner);
      return await new Promise((resolve, reject) => {
        const giveUp = (): void => {
          remove(owner, entry);
          reject(signal.reason as Error);
        };
        const settled = (): void => {
          signal.removeEventListener("abort", giveUp);
        };
        const entry: Waiting = {
          admit() {
            settled();
            resolve(takeTurn());
          },
          refuse(error) {
            settled();
            reject(error);
          },
        };
        signal.addEventListener("abort", giveUp, { once: true });
        waiting.set(owner, [...(waiting.get(owner) ?? []), entry]);
        count += 1;
      });
    },
  };
}

function busy(count: number): SkillsError {
  const hint = "Wait a second, or for one of your runs to end, and try again.";
  return new SkillsError("RUNTIME_BUSY", `The queue is full: ${count} runs are waiting.`, { facts: { hint } });
}
