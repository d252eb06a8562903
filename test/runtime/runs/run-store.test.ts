import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type RunStore, diskRunStore } from "../../../src/runtime/runs/run-store.ts";
import { dieAtEachChange } from "../../base/processes/die-at-each-change.ts";
import { describeRunStore, keptRunOf } from "../../contract/run-store.ts";

let directory = "";
let logged: string[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "acp-skills-run-store-"));
  logged = [];
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const log = (level: string, message: string): void => void logged.push(`${level} ${message}`);
const open = (now: () => number = () => 0): RunStore => diskRunStore(join(directory, "runs"), { log, now });

describeRunStore("disk run store", (options) =>
  Promise.resolve({ store: diskRunStore(join(directory, "runs"), { log, ...options }) }),
);

function filesOf(place = join(directory, "runs")): string[] {
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

async function idsIn(store: RunStore): Promise<string[]> {
  const ids: string[] = [];
  for await (const { spec } of store.list()) ids.push(spec.runId);
  return ids;
}

async function keep(store: RunStore, number: number, createdAt = number): Promise<void> {
  store.keep(keptRunOf(number, { createdAt }));
  await store.close();
}

describe("run records on disk", () => {
  test("are shared by stores of one directory, and readable by their user only", async () => {
    await keep(open(), 1);
    expect(await idsIn(open())).toEqual(["run_0000000001"]);
    const [file = ""] = filesOf();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(directory, "runs")).mode & 0o777).toBe(0o700);
  });

  test.skipIf(process.platform !== "linux")("a run whose process has ended was interrupted", async () => {
    const store = open();
    store.keep({ ...keptRunOf(1), status: "running" });
    await store.close();
    expect(await store.read("run_0000000001")).toMatchObject({ status: "running" });
    const [file = ""] = filesOf();
    writeFileSync(file, readFileSync(file, "utf8").replace(/"started":"\d+"/, '"started":"1"'));
    expect(await store.read("run_0000000001")).toEqual({ ...keptRunOf(1), status: "interrupted" });
  });

  test("looking creates nothing", async () => {
    expect(await idsIn(open())).toEqual([]);
    expect(readdirSync(directory)).toEqual([]);
  });

  test("a damaged record is logged and skipped", async () => {
    const store = open();
    await keep(store, 1);
    await keep(store, 2);
    const [file = ""] = filesOf().filter((name) => name.includes("run_0000000001"));
    truncateSync(file, 40);
    expect(await idsIn(store)).toEqual(["run_0000000002"]);
    expect(await store.read("run_0000000001")).toBeUndefined();
    expect(logged).toHaveLength(2);
    expect(logged[0]).toContain(`warning The run record ${file} was skipped`);
  });

  test("expired records, and temporary files of crashed processes, are removed when a later run is stored", async () => {
    let now = 0;
    await keep(open(), 1);
    const [file = ""] = filesOf();
    const temporary = join(file, "..", ".0000000000001-run_0000000009.tmp");
    writeFileSync(temporary, "{");
    now = 25 * 60 * 60 * 1000;
    await keep(
      open(() => now),
      2,
      now,
    );
    expect(filesOf().map((name) => name.slice(-"run_0000000002.json".length))).toEqual(["run_0000000002.json"]);
  });

  test.skipIf(process.getuid?.() === 0 || process.platform === "win32")(
    "a directory that cannot be written to is logged once, and harms no run",
    async () => {
      chmodSync(directory, 0o500);
      const store = open();
      await keep(store, 1);
      await keep(store, 2);
      chmodSync(directory, 0o700);
      expect(logged).toHaveLength(1);
      expect(logged[0]).toContain("Runs cannot be recorded in");
    },
  );

  test("a file in the place of the directory is logged once; what could not be written is held back, and written later", async () => {
    writeFileSync(join(directory, "runs"), "");
    const store = open();
    await keep(store, 1);
    await keep(store, 2);
    expect(logged).toHaveLength(1);
    expect(await store.stored("run_0000000001")).toBe(false);
    expect(await store.read("run_0000000001")).toEqual(keptRunOf(1));
    rmSync(join(directory, "runs"));
    await keep(store, 3);
    expect(await idsIn(open())).toEqual(["run_0000000003", "run_0000000002", "run_0000000001"]);
  });

  test("1,000 records that are stored at once are found at every moment, and written in one group", async () => {
    const store = open();
    const numbers = Array.from({ length: 1_000 }, (_, at) => at);
    for (const number of numbers) store.keep(keptRunOf(number));
    const last = store.stored("run_0000000999");
    const missing: string[] = [];
    for (const { spec } of numbers.map((number) => keptRunOf(number)))
      if ((await store.read(spec.runId)) === undefined) missing.push(spec.runId);
    expect([missing, await last]).toEqual([[], true]);
    expect(filesOf()).toHaveLength(1_000);
  });

  test("of a process that is killed, those that it said were stored are there, whichever change the kill interrupts", async () => {
    let places = 0;
    const latest = await dieAtEachChange({
      program: fileURLToPath(new URL("dying-process.js", import.meta.url)),
      prepare: () => join(directory, String(places++)),
      directoryOf: (place) => place,
      async check(place, printed, moment) {
        const store = diskRunStore(place, { log });
        for (const runId of new Set(printed.split("\n").filter((line) => line !== "")))
          expect(await store.read(runId), `${runId} after ${moment}`).toMatchObject({
            status: expect.stringMatching(/interrupted|cancelled/) as string,
          });
        expect(logged).toEqual([]);
      },
    });
    expect(latest).toBeGreaterThan(15);
  }, 60_000);
});
