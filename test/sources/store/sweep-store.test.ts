import { existsSync, mkdirSync, readdirSync, utimesSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { sourcePaths } from "../../../src/sources/store/store-paths.ts";
import { copyRetentionMs, sourceRetentionMs, sweepStore } from "../../../src/sources/store/sweep-store.ts";
import { fakeSource, listed, newDataDirectory, openStore, source } from "./open-store.ts";

/** As the times of what is written. */
const start = Date.now();

function opened() {
  let time = start;
  const store = openStore(newDataDirectory(), () => time);
  return {
    ...store,
    at: (ms: number) => (time = start + ms),
    sweep: () => sweepStore(store.paths, store.turns, time),
    copies: () => readdirSync(store.paths.store).length,
  };
}

test("an old version stays for a day after a new one took its place, then it is removed", async () => {
  const { look, at, sweep, copies, paths, bodies } = opened();
  const fake = fakeSource("alpha");
  await look(fake);
  at(100 * copyRetentionMs);
  fake.skills = [listed("alpha", "2")];
  await look(fake);
  await sweep();
  expect(copies()).toBe(2);
  at(100 * copyRetentionMs + copyRetentionMs + 1);
  await sweep();
  expect(copies()).toBe(1);
  expect(readdirSync(paths.trash)).toEqual([]);
  expect(bodies()).toEqual({ alpha: "version 2" });
});

test("a copy that a source refers to is never removed, however old it is", async () => {
  const { look, at, sweep, bodies } = opened();
  const fake = fakeSource("alpha");
  for (let month = 0; month < 24; month++) {
    at(month * sourceRetentionMs);
    await look(fake);
    await sweep();
  }
  expect(bodies()).toEqual({ alpha: "version 1" });
});

test("a source that nobody looked at for 30 days is removed with its copies", async () => {
  const { look, at, sweep, copies, paths } = opened();
  await look(fakeSource("alpha"));
  at(sourceRetentionMs);
  await sweep();
  expect(copies()).toBe(1);
  at(sourceRetentionMs + 1);
  await sweep();
  expect(existsSync(sourcePaths(paths, source).directory)).toBe(false);
  expect(copies()).toBe(0);
});

test("what a process that died was writing is removed after a day", async () => {
  const { at, sweep, paths } = opened();
  const left = path.join(paths.incoming, "left");
  mkdirSync(left);
  utimesSync(left, start / 1_000, start / 1_000);
  at(copyRetentionMs - 1_000);
  await sweep();
  expect(readdirSync(paths.incoming)).toEqual(["left"]);
  at(copyRetentionMs + 1_000);
  await sweep();
  expect(readdirSync(paths.incoming)).toEqual([]);
});
