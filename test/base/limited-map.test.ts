import { expect, test } from "vitest";
import { LimitedMap } from "../../src/base/limited-map.ts";

test("evicts the oldest entry beyond the limit, and keeps the position of a key that is set again", () => {
  const map = new LimitedMap<string, number>(2);
  map.set("a", 1).set("b", 2).set("a", 3);
  expect([...map]).toEqual([
    ["a", 3],
    ["b", 2],
  ]);
  map.set("c", 4);
  expect([...map.keys()]).toEqual(["b", "c"]);
});
