/**
 * Long work as a generator: it yields at each moment where it may pause, and yields a promise where it cannot go on
 * before that resolved.
 */
export type Steps<Result> = Generator<Promise<unknown> | undefined, Result>;

/** Runs steps, and lets other work have its turn after every `slice` milliseconds. */
export async function runInSlices<Result>(
  steps: Steps<Result>,
  { now, slice }: { now: () => number; slice: number },
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

/** Takes steps until they have taken so many milliseconds themselves. False where they did not come to their end. */
export function* withinTime(steps: Steps<void>, now: () => number, milliseconds: number): Steps<boolean> {
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
