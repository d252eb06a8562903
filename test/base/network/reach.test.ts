import { expect, test } from "vitest";
import { systemResolver } from "../../../src/base/network/reach.ts";

const wanted = new AbortController().signal;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("resolves at most two names at a time, in order, even if some fail", async () => {
  const asked: string[] = [];
  const answers: ((fails: boolean) => void)[] = [];
  const resolve = systemResolver((name) => {
    asked.push(name);
    return new Promise((answer, fail) => answers.push((fails) => (fails ? fail(new Error(name)) : answer([name]))));
  });
  const results = ["a", "b", "c", "d"].map((name) => resolve(name, wanted).catch(() => ["failed"]));
  await turn();
  expect(asked).toEqual(["a", "b"]);
  answers[1]?.(true);
  expect(await results[1]).toEqual(["failed"]);
  await turn();
  expect(asked).toEqual(["a", "b", "c"]);
  answers[0]?.(false);
  expect(await results[0]).toEqual(["a"]);
  await turn();
  expect(asked).toEqual(["a", "b", "c", "d"]);
  answers[2]?.(false);
  answers[3]?.(false);
  expect(await Promise.all(results)).toEqual([["a"], ["failed"], ["c"], ["d"]]);
});

test("does not resolve a queued name whose request was aborted", async () => {
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const resolve = systemResolver((name) => {
    asked.push(name);
    return new Promise((answer) => answers.push(() => answer([name])));
  });
  const left = new AbortController();
  const results = ["a", "b"].map((name) => resolve(name, left.signal));
  const unwanted = ["c", "d"].map((name) => resolve(name, left.signal).catch(() => "not asked"));
  const last = resolve("e", wanted);
  await turn();
  left.abort();
  answers[0]?.();
  answers[1]?.();
  expect(await Promise.all([...results, ...unwanted])).toEqual([["a"], ["b"], "not asked", "not asked"]);
  await turn();
  answers[2]?.();
  expect(await last).toEqual(["e"]);
  expect(asked).toEqual(["a", "b", "e"]);
});

test("resolves with the system resolver by default", async () => {
  expect(await systemResolver()("127.0.0.1", wanted)).toEqual(["127.0.0.1"]);
});
