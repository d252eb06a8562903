import { expect, test } from "vitest";
import { every } from "../../src/base/clock.ts";
import { manualClock } from "../manual-clock.ts";

test("works after each interval until it is stopped", () => {
  const clock = manualClock();
  const at: number[] = [];
  const stop = every(clock, 10, () => at.push(clock.now()));
  clock.pass(35);
  stop();
  clock.pass(100);
  expect(at).toEqual([10, 20, 30]);
  expect(clock.pending).toBe(0);
});

test("asks for each interval, waits for what it began, also where that fails, and begins nothing after it was stopped", async () => {
  const clock = manualClock();
  const intervals = [10, 20, 30];
  const ends: (() => void)[] = [];
  const stop = every(
    clock,
    () => intervals.shift() ?? 0,
    async () => {
      await new Promise<void>((resolve) => ends.push(resolve));
      throw new Error("lost");
    },
  );
  clock.pass(1_000);
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await new Promise(setImmediate);
  clock.pass(19);
  expect(ends).toHaveLength(1);
  clock.pass(1);
  expect(ends).toHaveLength(2);
  stop();
  ends[1]?.();
  await new Promise(setImmediate);
  expect([clock.pending, ends.length]).toEqual([0, 2]);
});
