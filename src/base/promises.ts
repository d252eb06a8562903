/** A promise with its `resolve`: Promise.withResolvers, which Node 20 does not have. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
}

export function createDeferred<Value = void>(): Deferred<Value> {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}

/** Returns the result of work that cannot be cancelled itself. Rejects with the reason of `signal` once `signal` is aborted. */
export function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason as Error);
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}

/**
 * Returns a function that runs `work`, one run at a time. If it is called during a run, one more run follows. Its promise resolves when a
 * run that began after the call has ended. `failed` gets the errors of `work`, and must not throw.
 */
export function latestWork(work: () => Promise<void>, failed: (error: unknown) => void): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  async function run(): Promise<void> {
    try {
      await work();
    } catch (error) {
      failed(error);
    }
  }
  function begin(): Promise<void> {
    running = run().finally(() => {
      running = undefined;
    });
    return running;
  }
  return () => {
    if (running === undefined) return begin();
    next ??= running.then(() => {
      next = undefined;
      return begin();
    });
    return next;
  };
}

/** Returns the results in the order of the items, with at most `maxAtOnce` at work at a time. Starts no further item after a failure. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  maxAtOnce: number,
  act: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(items.length);
  const entries = items.entries();
  let hasFailed = false;
  const work = async (): Promise<void> => {
    for (const [index, item] of entries) {
      if (hasFailed) return;
      try {
        results[index] = await act(item, index);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxAtOnce, items.length) }, work));
  return results;
}

/** A semaphore: at most `width` callers are inside at a time, in order. The function enters, and resolves with another one that leaves. */
export function createSemaphore(width: number): () => Promise<() => void> {
  const waiting: (() => void)[] = [];
  let inside = 0;
  const leave = (): void => {
    const next = waiting.shift();
    if (next) next();
    else inside -= 1;
  };
  return async () => {
    if (inside < width) inside += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    return leave;
  };
}

/** Long work as a generator: it yields undefined at points where it may pause, or a promise to await. */
export type Steps<Result> = Generator<Promise<unknown> | undefined, Result>;

/** Runs steps, and yields to the event loop after every `slice` milliseconds (default: 3). */
export async function runInSlices<Result>(
  steps: Steps<Result>,
  { now = () => performance.now(), slice = 3 }: { readonly now?: () => number; readonly slice?: number } = {},
): Promise<Result> {
  for (let end = now() + slice; ;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (step.value !== undefined) await step.value;
    else if (now() < end) continue;
    else await new Promise((resolve) => setImmediate(resolve));
    end = now() + slice;
  }
}

/** Runs steps for at most `budgetMs` milliseconds, not counting the time between steps. Returns false if they did not finish. */
export function* withinTimeBudget(steps: Steps<void>, now: () => number, budgetMs: number): Steps<boolean> {
  for (let left = budgetMs; left > 0;) {
    const started = now();
    const step = steps.next();
    if (step.done) return true;
    left -= now() - started;
    yield step.value;
  }
  steps.return();
  return false;
}

/** Keeps the process alive until `work` is done: with only timers and closed connections left, it could exit half-way. */
export async function stayingFor<Result>(work: Promise<Result>): Promise<Result> {
  const hold = setInterval(() => undefined, 1_000);
  try {
    return await work;
  } finally {
    clearInterval(hold);
  }
}

/** Sends items in batches, one after the other: items that arrive while one batch is sent form the next. Each promise is its batch's. */
export function inBatches<Item>(send: (items: readonly Item[]) => Promise<unknown>): (item: Item) => Promise<void> {
  let waiting: Item[] = [];
  let [sent, next]: [Promise<unknown>, Promise<void> | undefined] = [Promise.resolve(), undefined];
  const sendNext = async (): Promise<void> => {
    await sent.catch(() => undefined);
    const items = waiting;
    [waiting, sent, next] = [[], next ?? sent, undefined];
    await send(items);
  };
  return (item) => {
    waiting.push(item);
    return (next ??= sendNext());
  };
}

/** Does work at the first call, for all calls. If it failed, the next call does it again. */
export function doOnce<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let doing: Promise<Result> | undefined;
  return async () => {
    const own = (doing ??= work());
    try {
      return await own;
    } catch (error) {
      if (doing === own) doing = undefined;
      throw error;
    }
  };
}
