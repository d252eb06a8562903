import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { SizedCache } from "../../../src/serve/publish/artifacts.ts";

const bytes = (length: number): Uint8Array<ArrayBuffer> => new Uint8Array(length);

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Lets go of what nobody holds. */
async function letGo(): Promise<void> {
  await setImmediate();
  collect();
}

test("drops what was used least recently beyond its limit", async () => {
  const cache = new SizedCache(10);
  cache.set("a", bytes(4));
  cache.set("b", bytes(4));
  cache.get("a");
  cache.set("c", bytes(4));
  await letGo();
  expect(["a", "b", "c"].map((key) => cache.get(key)?.length)).toEqual([4, undefined, 4]);
});

test("counts what was replaced or deleted no longer, and keeps one that is too large alone", async () => {
  const cache = new SizedCache(10);
  cache.set("a", bytes(8));
  cache.set("a", bytes(2));
  cache.set("b", bytes(8));
  expect(cache.get("a")?.length).toBe(2);
  cache.delete("b");
  cache.set("c", bytes(8));
  expect(cache.get("a")?.length).toBe(2);
  cache.set("d", bytes(20));
  await letGo();
  expect(["a", "c", "d"].map((key) => cache.get(key)?.length)).toEqual([undefined, undefined, 20]);
});

test("finds what it dropped as long as somebody holds it, so that there is no second copy", () => {
  const cache = new SizedCache(10);
  const held = bytes(8);
  cache.set("a", held);
  cache.set("b", bytes(8));
  expect(cache.get("a")).toBe(held);
  cache.delete("a");
  expect(cache.get("a")).toBeUndefined();
});
