import { type RunRetention, type RunStore, type StoredRun, runRetention } from "../../../src/runtime/runs/run-store.ts";

/** Records of runs in memory. `now` is in milliseconds since 1970. */
export function memoryRunStore({
  now = Date.now,
  ttlMs = runRetention.ttlMs,
  maxRuns = runRetention.maxRuns,
  maxBytes = runRetention.maxBytes,
}: Partial<RunRetention> & { readonly now?: () => number } = {}): RunStore {
  /** Oldest first, as JSON: what is stored does not change afterwards. */
  let kept: { readonly runId: string; readonly owner: string; readonly createdAt: number; readonly json: string }[] =
    [];

  function prune(owner: string): void {
    kept = kept.filter(({ createdAt }) => createdAt + ttlMs > now());
    let [runs, bytes] = [0, 0];
    const excess = new Set(
      kept.toReversed().filter((run) => {
        if (run.owner !== owner) return false;
        runs += 1;
        bytes += Buffer.byteLength(run.json);
        return runs > maxRuns || bytes > maxBytes;
      }),
    );
    kept = kept.filter((run) => !excess.has(run));
  }

  const fresh = (): typeof kept => kept.filter(({ createdAt }) => createdAt + ttlMs > now());
  const parse = (json: string): StoredRun => JSON.parse(json) as StoredRun;

  return {
    keep(run) {
      const { runId, owner } = run.spec;
      kept = kept.filter((run) => run.runId !== runId);
      kept.push({ runId, owner, createdAt: run.createdAt, json: JSON.stringify(run) });
      prune(owner);
    },
    stored: (runId) => Promise.resolve(fresh().some((run) => run.runId === runId)),
    read(runId) {
      const found = fresh().find((run) => run.runId === runId);
      return Promise.resolve(found && parse(found.json));
    },
    // eslint-disable-next-line @typescript-eslint/require-await
    async *list() {
      for (const { json } of fresh().toSorted((a, b) => b.createdAt - a.createdAt)) yield parse(json);
    },
    close: () => Promise.resolve(),
  };
}
