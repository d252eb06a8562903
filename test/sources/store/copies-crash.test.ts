import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { openSourceCopies } from "../../../src/sources/store.ts";
import { readState, sourcePaths, storePaths } from "../../../src/sources/store/store-paths.ts";
import { dieAtEachChange } from "../../base/processes/die-at-each-change.ts";
import { newDataDirectory, openStore, source } from "./open-store.ts";
import { openVersions, published } from "./versions.js";

const dyingProcess = fileURLToPath(new URL("dying-process.js", import.meta.url));
const lookingProcess = fileURLToPath(new URL("looking-process.js", import.meta.url));
const { signal } = new AbortController();

/** What links lead to: every one to a whole skill of one of the versions. */
async function expectWhole(dataDirectory: string, moment: string): Promise<Record<string, string>> {
  const { bodies, store } = openStore(dataDirectory);
  const found = bodies();
  for (const [slug, text] of Object.entries(found)) {
    const versions = Object.values<Record<string, string>>(published).map((version) => version[slug]);
    expect(versions, moment).toContain(text);
  }
  for (const skill of readState(sourcePaths(storePaths(dataDirectory), source).state)?.skills ?? [])
    expect(await store.isWhole(skill, signal), moment).toBe(true);
  return found;
}

/** What the next process makes of it. */
async function recovered(dataDirectory: string): Promise<Record<string, string>> {
  const told: string[] = [];
  const given = { dataDirectory, sources: [source.url], allowPrivate: [], clock: systemClock };
  const copies = openSourceCopies(
    { ...given, log: (_level, message) => void told.push(message) },
    { openReader: openVersions("second").openReader },
  );
  const [outcome] = await copies.refresh(signal);
  await copies.close();
  expect(outcome?.failure).toBeUndefined();
  expect(told).toEqual([]);
  return openStore(dataDirectory).bodies();
}

describe("copies of many processes", () => {
  test("a kill at any change of the file system leaves whole skills only, and the next look corrects the rest", async () => {
    const latest = await dieAtEachChange({
      program: dyingProcess,
      prepare: newDataDirectory,
      directoryOf: (directory) => directory,
      async check(dataDirectory, printed, moment) {
        const found = await expectWhole(dataDirectory, moment);
        if (printed.includes("second")) expect(found, moment).toEqual(published.second);
        else if (printed.includes("first"))
          expect(found, moment).toMatchObject({ alpha: expect.any(String) as string });
        expect(await recovered(dataDirectory), moment).toEqual(published.second);
      },
    });
    expect(latest).toBeGreaterThan(60);
  }, 300_000);

  test("processes that look at once agree in the end, and a reader sees whole versions only", async () => {
    const dataDirectory = newDataDirectory();
    openStore(dataDirectory);
    const children = Array.from({ length: 3 }, () => execa(process.execPath, [lookingProcess, dataDirectory, "8"]));
    const ending = { isOver: false };
    const all = Promise.all(children).finally(() => (ending.isOver = true));
    while (!ending.isOver) {
      const { skills } = sourcePaths(storePaths(dataDirectory), source);
      for (const slug of readdirSync(skills)) expect(["alpha", "beta"]).toContain(slug);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    for (const { stderr } of await all) expect(stderr).toBe("");
    await expectWhole(dataDirectory, "the end");
    expect(await recovered(dataDirectory)).toEqual(published.second);
  }, 120_000);
});
