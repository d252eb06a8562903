import { expect, test } from "vitest";
import { inParallel } from "../../../src/base/promises/in-parallel.ts";

test("results keep the order of the items, with a limited number at work", async () => {
  let [working, most] = [0, 0];
  const results = await inParallel([3, 1, 2, 5, 4], 2, async (turns) => {
    most = Math.max(most, ++working);
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    working--;
    return turns * 10;
  });
  expect(results).toEqual([30, 10, 20, 50, 40]);
  expect(most).toBe(2);
  expect(await inParallel([], 2, () => Promise.reject(new Error("never")))).toEqual([]);
});

test("after a failure no further item is started", async () => {
  const started: number[] = [];
  const act = async (item: number): Promise<void> => {
    started.push(item);
    await Promise.resolve();
    if (item === 1) throw new Error("no");
  };
  await expect(inParallel([1, 2, 3, 4, 5], 2, act)).rejects.toThrow("no");
  expect(started.length).toBeLessThan(5);
});
