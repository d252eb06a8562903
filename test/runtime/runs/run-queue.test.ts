import { expect, test } from "vitest";
import { RunQueue } from "../../../src/runtime/runs/run-queue.ts";

const never = new AbortController().signal;
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("admits up to the concurrency limit, owners in turn", async () => {
  const queue = new RunQueue({ concurrency: 1, maxWaiting: 10 });
  const order: string[] = [];
  const leaves: (() => void)[] = [];
  const enter = (owner: string, name: string) =>
    queue.enter(owner, never).then((leave) => {
      order.push(name);
      leaves.push(leave);
    });
  const all = [enter("a", "a1"), enter("a", "a2"), enter("a", "a3"), enter("b", "b1"), enter("c", "c1")];
  for (let turn = 0; turn < all.length; turn++) {
    await settle();
    expect(order).toHaveLength(turn + 1);
    leaves[turn]?.();
    // Leaving twice gives no second turn.
    leaves[turn]?.();
  }
  await Promise.all(all);
  expect(order).toEqual(["a1", "a2", "b1", "c1", "a3"]);
});

test("refuses with RUNTIME_BUSY when full, until a queued run leaves", async () => {
  const queue = new RunQueue({ concurrency: 1, maxWaiting: 1 });
  const leave = await queue.enter("a", never);
  const controller = new AbortController();
  const waiting = queue.enter("b", controller.signal);
  await expect(queue.enter("c", never)).rejects.toMatchObject({
    code: "RUNTIME_BUSY",
    facts: { hint: expect.any(String) as string },
  });
  controller.abort(new Error("gave up"));
  await expect(waiting).rejects.toThrow("gave up");
  const next = queue.enter("c", never);
  leave();
  (await next)();
  (await queue.enter("d", never))();
});

test("does not admit a run whose signal is aborted already", async () => {
  const queue = new RunQueue({ concurrency: 1, maxWaiting: 1 });
  await expect(queue.enter("a", AbortSignal.abort(new Error("too late")))).rejects.toThrow("too late");
});

test("an owner who fills the queue does not keep others out", async () => {
  const queue = new RunQueue({ concurrency: 1, maxWaiting: 3 });
  const leave = await queue.enter("a", never);
  const [first, second, third] = [1, 2, 3].map(() => queue.enter("a", never));
  const other = queue.enter("b", never);
  await expect(third).rejects.toMatchObject({ code: "RUNTIME_BUSY" });
  // Two and one: as even as three places can be.
  await expect(queue.enter("b", never)).rejects.toMatchObject({ code: "RUNTIME_BUSY" });
  await expect(queue.enter("a", never)).rejects.toMatchObject({ code: "RUNTIME_BUSY" });
  leave();
  (await first)?.();
  (await other)();
  (await second)?.();
});

test("who was admitted keeps its place, and learns at once how many are before it", async () => {
  const queue = new RunQueue({ concurrency: 1, maxWaiting: 8 });
  const places: string[] = [];
  const told = (owner: string) => (behind: number) => places.push(`${owner} behind ${behind}`);
  const enter = async (owner: string): Promise<void> => (await queue.enter(owner, never, told(owner)))();
  const leave = await queue.enter("first", never, told("first"));
  const ends = Promise.allSettled(["a", "a", "a", "a", "a", "b", "b", "b", "c", "c"].map(enter));
  expect(places).toEqual(["first behind 0", ..."aaaabbc".split("").map((owner, at) => `${owner} behind ${at + 1}`)]);
  leave();
  expect((await ends).filter(({ status }) => status === "rejected")).toHaveLength(10 + 1 - places.length);
});
