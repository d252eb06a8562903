/** Long work as a generator: it yields undefined where it may pause, or a promise to await. */
export type Steps<Result> = Generator<Promise<unknown> | undefined, Result>;

/** Runs steps, and yields to the event loop after every `slice` milliseconds; 3 unless given. */
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

/** Runs steps for at most this many milliseconds, not counting the time between steps. False if they did not finish. */
export function* withinTimeBudget(steps: Steps<void>, now: () => number, milliseconds: number): Steps<boolean> {
  for (let left = milliseconds; left > 0;) {
    const started = now();
    const step = steps.next();
    if (step.done) return true;
    left -= now() - started;
    yield step.value;
  }
  steps.return();
  return false;
}
