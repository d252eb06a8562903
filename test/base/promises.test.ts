import { expect, test, describe, it } from "vitest";
import { doOnce, inBatches, inParallel, runInSlices, type Steps } from "../../src/base/promises.ts";

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

function* count(steps: number, onStep: (step: number) => void): Steps<string> {
  for (let step = 1; step <= steps; step++) {
    onStep(step);
    yield undefined;
  }
  return "done";
}

describe("runInSlices", () => {
  it("yields to the event loop when a slice is used up", async () => {
    let time = 0;
    let turns = 0;
    let running = true;
    const other = (): void => {
      turns++;
      if (running) setImmediate(other);
    };
    setImmediate(other);
    const result = await runInSlices(
      count(9, () => time++),
      { now: () => time, slice: 3 },
    );
    running = false;
    expect(result).toBe("done");
    expect(turns).toBeGreaterThanOrEqual(2);
  });

  it("runs synchronously to the end when the slice is infinite", () => {
    const steps: number[] = [];
    void runInSlices(
      count(3, (step) => steps.push(step)),
      { now: () => 0, slice: Infinity },
    );
    expect(steps).toEqual([1, 2, 3]);
  });

  it("awaits yielded promises and rethrows errors", async () => {
    let loaded = false;
    function* load(fails: boolean): Steps<boolean> {
      yield Promise.resolve().then(() => {
        loaded = true;
      });
      if (fails) throw new Error("broken");
      return loaded;
    }
    expect(await runInSlices(load(false), { now: () => 0, slice: 1 })).toBe(true);
    await expect(runInSlices(load(true), { now: () => 0, slice: 1 })).rejects.toThrow("broken");
  });
});

test("what comes while a batch is sent goes together, after it, and each promise is that of its own batch", async () => {
  const sent: (readonly number[])[] = [];
  const ends: { readonly resolve: (value?: unknown) => void; readonly reject: (error: Error) => void }[] = [];
  const send = inBatches<number>((items) => {
    sent.push(items);
    return new Promise((resolve, reject) => ends.push({ resolve, reject }));
  });
  const first = [send(1), send(2)];
  await settle();
  const second = [send(3), send(4)];
  await settle();
  expect(sent).toEqual([[1, 2]]);
  ends[0]?.reject(new Error("lost"));
  expect((await Promise.allSettled(first)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await settle();
  expect(sent).toEqual([
    [1, 2],
    [3, 4],
  ]);
  ends[1]?.resolve();
  await Promise.all(second);
});

test("is done once for all calls, and again where it failed", async () => {
  let calls = 0;
  const one = doOnce(async () => {
    await settle();
    if (++calls === 1) throw new Error("first");
    return calls;
  });
  expect((await Promise.allSettled([one(), one()])).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await Promise.all([one(), one()])).toEqual([2, 2]);
  expect(await one()).toBe(2);
});

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}
