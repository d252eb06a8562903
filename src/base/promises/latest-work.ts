/**
 * Runs `work` one at a time: asked for while it runs, it runs once more afterwards. `failed` gets what it rejects with; neither must throw.
 * The returned function resolves when a run that began after the call has ended.
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
