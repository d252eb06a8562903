import { describe, expect, test } from "vitest";
import { defaultRunLimits } from "../../src/runtime/runs/run-limits.ts";
import type { RunRetention, RunStore, StoredRun } from "../../src/runtime/runs/run-store.ts";

export interface RunStoreUnderTest {
  readonly store: RunStore;
  readonly close?: () => Promise<void>;
}

/** A minimal run. */
export function keptRunOf(
  number: number,
  changes: { owner?: string; createdAt?: number; code?: string } = {},
): StoredRun {
  const { owner = "me", createdAt = number, code = "" } = changes;
  return {
    spec: {
      runId: `run_${String(number).padStart(10, "0")}`,
      program: { type: "code", code, entrypoint: "main", args: { n: number } },
      mounts: [],
      brokered: [],
      blobs: [],
      limits: { ...defaultRunLimits },
      clamped: false,
      needs: { network: [], secrets: [], project: "none" },
      owner,
      door: "cli",
    },
    createdAt,
    status: "refused",
    events: [{ atMs: 3, type: "ended", status: "refused" }],
    error: { code: "RUNTIME_BUSY", message: "The queue is full." },
  };
}

/** The contract of `RunStore`, run by every adapter. `open` takes a clock and limits. */
export function describeRunStore(
  name: string,
  open: (options: Partial<RunRetention> & { now: () => number }) => Promise<RunStoreUnderTest>,
): void {
  describe(name, () => {
    async function using(
      options: Partial<RunRetention> & { now?: () => number },
      work: (store: RunStore) => Promise<void>,
    ): Promise<void> {
      const { store, close } = await open({ now: () => 0, ...options });
      try {
        await work(store);
      } finally {
        await store.close();
        await close?.();
      }
    }

    async function keep(store: RunStore, ...runs: readonly StoredRun[]): Promise<void> {
      for (const run of runs) store.keep(run);
      await store.close();
    }

    async function numbers(store: RunStore): Promise<number[]> {
      const found: number[] = [];
      for await (const { spec } of store.list()) found.push(Number(spec.runId.slice("run_".length)));
      return found;
    }

    test("returns a stored run by its run id", async () => {
      await using({}, async (store) => {
        const run = keptRunOf(1, { code: "def main(): return 'é'\n" });
        await keep(store, run, keptRunOf(2));
        expect(await store.read(run.spec.runId)).toEqual(run);
        expect(await store.read("run_9999999999")).toBeUndefined();
        expect(await store.read("../run_0000000001")).toBeUndefined();
      });
    });

    test("replaces the record of a run that goes on", async () => {
      await using({}, async (store) => {
        const { error, ...run } = keptRunOf(1);
        store.keep({ ...run, status: "queued", events: [] });
        await keep(store, { ...run, status: "running", events: [] });
        expect(await store.read(run.spec.runId)).toMatchObject({ status: "running" });
        await keep(store, keptRunOf(1));
        expect(await store.read(run.spec.runId)).toEqual({ ...run, error });
        expect(await numbers(store)).toEqual([1]);
      });
    });

    test("finds a run at once, and says when its record is stored", async () => {
      await using({}, async (store) => {
        store.keep(keptRunOf(1));
        expect(await store.read("run_0000000001")).toEqual(keptRunOf(1));
        expect(await store.stored("run_0000000001")).toBe(true);
        expect(await store.stored("run_0000000002")).toBe(false);
      });
    });

    test("lists the runs of all owners, newest first", async () => {
      await using({}, async (store) => {
        expect(await numbers(store)).toEqual([]);
        await keep(store, keptRunOf(2), keptRunOf(3, { owner: "other" }), keptRunOf(1));
        expect(await numbers(store)).toEqual([3, 2, 1]);
      });
    });

    test("drops a run when its retention time is over", async () => {
      let now = 0;
      await using({ now: () => now, ttlMs: 1_000 }, async (store) => {
        await keep(store, keptRunOf(1, { createdAt: 0 }), keptRunOf(2, { createdAt: 500 }));
        now = 999;
        expect(await numbers(store)).toEqual([2, 1]);
        now = 1_000;
        expect(await numbers(store)).toEqual([2]);
        expect(await store.read("run_0000000001")).toBeUndefined();
      });
    });

    test("keeps only the newest runs of each owner, up to a limit", async () => {
      await using({ maxRuns: 3 }, async (store) => {
        await keep(store, keptRunOf(100, { owner: "other" }));
        for (let number = 1; number <= 10; number++) await keep(store, keptRunOf(number));
        expect(await numbers(store)).toEqual([100, 10, 9, 8]);
      });
    });

    test("limits the stored bytes of each owner", async () => {
      await using({ maxBytes: 10_000 }, async (store) => {
        await keep(store, keptRunOf(100, { owner: "other" }));
        for (let number = 1; number <= 10; number++) await keep(store, keptRunOf(number, { code: "#".repeat(4_000) }));
        expect(await numbers(store)).toEqual([100, 10, 9]);
        await keep(store, keptRunOf(11, { code: "#".repeat(20_000) }));
        expect(await store.read("run_0000000011")).toBeUndefined();
      });
    });

    test("does not change a stored run when the original object changes", async () => {
      await using({}, async (store) => {
        const run = keptRunOf(1);
        await keep(store, run);
        (run.events as unknown[]).push({ atMs: 4, type: "late" });
        expect((await store.read("run_0000000001"))?.events).toHaveLength(1);
      });
    });
  });
}
