import { expect, test } from "vitest";
import { type PoolOptions, openWarmPool, restockAfterMs } from "../../../../src/runtime/sandbox/drive/sandbox-life.ts";
import { manualClock } from "../../../manual-clock.ts";

interface Item {
  readonly number: number;
  readonly warm: boolean;
  alive: boolean;
}

function open(more: Partial<PoolOptions<Item>> = {}) {
  const clock = manualClock();
  const made: Item[] = [];
  const discarded: number[] = [];
  const failures: unknown[] = [];
  const pool = openWarmPool<Item>({
    size: 2,
    idleMs: 1000,
    clock,
    make(warm) {
      const item = { number: made.length + 1, warm, alive: true };
      made.push(item);
      return Promise.resolve(item);
    },
    isAlive: ({ alive }) => alive,
    discard({ number }) {
      discarded.push(number);
      return Promise.resolve();
    },
    failed: (error) => failures.push(error),
    ...more,
  });
  const refill = (): void => {
    pool.refill();
    clock.pass(restockAfterMs);
  };
  return { pool, refill, clock, made, discarded, failures };
}

/** Lets every pending promise settle; the clock does not advance. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

test("creates nothing before the first request", async () => {
  const { pool, made } = open();
  await settle();
  expect(made).toEqual([]);
  expect(await pool.take()).toMatchObject({ number: 1, warm: false });
  await settle();
  expect(made).toHaveLength(1);
});

test("keeps warm items after a refill and hands out each of them once", async () => {
  const { pool, refill, made } = open();
  await pool.take();
  refill();
  await settle();
  expect(made.map(({ warm }) => warm)).toEqual([false, true, true]);
  const taken = [await pool.take(), await pool.take(), await pool.take()];
  expect(taken.map(({ number, warm }) => [number, warm])).toEqual([
    [2, true],
    [3, true],
    [4, false],
  ]);
});

test("creates none while the end of a run is being reported", async () => {
  const { pool, clock, made } = open();
  pool.refill();
  clock.pass(restockAfterMs - 1);
  await settle();
  expect(made).toEqual([]);
  clock.pass(1);
  await settle();
  expect(made).toHaveLength(2);
});

test("creates items one at a time", async () => {
  let making = 0;
  let most = 0;
  const { pool, refill } = open({
    async make(warm) {
      most = Math.max(most, ++making);
      await settle();
      making -= 1;
      return { number: 0, warm, alive: true };
    },
  });
  refill();
  refill();
  await pool.close();
  expect(most).toBe(1);
});

test("discards an item that died while it waited", async () => {
  const { pool, refill, made, discarded } = open();
  refill();
  await settle();
  for (const item of made) item.alive = false;
  expect(await pool.take()).toMatchObject({ number: 3, warm: false });
  expect(discarded).toEqual([1, 2]);
});

test("discards warm items after the idle timeout", async () => {
  const { refill, clock, discarded } = open();
  refill();
  await settle();
  clock.pass(999 - restockAfterMs);
  expect(discarded).toEqual([]);
  clock.pass(1);
  await settle();
  expect(discarded).toEqual([1, 2]);
  expect(clock.pending).toBe(0);
});

test("restarts the idle timeout on every refill", async () => {
  const { refill, clock, discarded } = open();
  refill();
  await settle();
  clock.pass(800);
  refill();
  clock.pass(800);
  expect(discarded).toEqual([]);
});

test("discards an item whose creation finishes after the idle timeout", async () => {
  let finish: (item: Item) => void = () => undefined;
  const { refill, clock, discarded } = open({ make: () => new Promise((resolve) => (finish = resolve)) });
  refill();
  clock.pass(1000);
  finish({ number: 9, warm: true, alive: true });
  await settle();
  expect(discarded).toEqual([9]);
});

test("reports a failed creation and retries only on the next refill", async () => {
  let attempts = 0;
  const { pool, refill, failures } = open({
    make() {
      attempts += 1;
      return Promise.reject(new Error("no"));
    },
  });
  refill();
  await settle();
  expect([attempts, failures.length]).toEqual([1, 1]);
  refill();
  await settle();
  expect(attempts).toBe(2);
  await expect(pool.take()).rejects.toThrow("no");
});

test("close discards waiting and unfinished items and stops the timer", async () => {
  const { pool, refill, clock, made, discarded } = open();
  refill();
  await pool.close();
  pool.refill();
  await settle();
  expect(discarded).toEqual(made.map(({ number }) => number));
  expect(made).toHaveLength(1);
  expect(clock.pending).toBe(0);
});
