import path from "node:path";
import { execFile, execFileSync } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { countRefusals, diskLedger } from "../../../src/runtime/ledger/disk-ledger.ts";
import { chainStart, toLedgerLine } from "../../../src/runtime/ledger/ledger-line.ts";
import type { Ledger, LedgerEntry } from "../../../src/runtime/ledger.ts";
import { silentLog } from "../../../src/base/log.ts";
import { describeLedger, readAll, use } from "../../contract/ledger.ts";
import { manualClock } from "../../manual-clock.ts";

const lineBytes = Buffer.byteLength(`${toLedgerLine(use(999), { rows: 999, digest: chainStart.digest })}\n`);

/** A line as earlier versions wrote it. */
function oldLine(entry: LedgerEntry): string {
  return `${toLedgerLine(entry, chainStart).replace(/,"after":.*$/, "}")}\n`;
}

describeLedger("on disk", ({ maxKept } = { maxKept: 10_000 }) => {
  const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-ledger-"));
  return {
    ledger: diskLedger(directory, { log: silentLog, maxFileBytes: maxKept * lineBytes }),
    close: () => {
      rmSync(directory, { recursive: true });
    },
  };
});

describe("a ledger on disk", () => {
  let directory = "";
  const opened: Ledger[] = [];
  const told: string[] = [];
  beforeEach(() => {
    directory = path.join(mkdtempSync(path.join(tmpdir(), "acp-skills-ledger-")), "ledger");
    told.length = 0;
  });
  afterEach(() => {
    for (const ledger of opened.splice(0)) ledger.close();
    rmSync(path.dirname(directory), { recursive: true });
  });
  const open = (maxFileBytes?: number): Ledger => {
    const log = (level: string, message: string): void => void told.push(`${level} ${message}`);
    const ledger = diskLedger(directory, { log, ...(maxFileBytes !== undefined && { maxFileBytes }) });
    opened.push(ledger);
    return ledger;
  };
  const file = (number: number): string => path.join(directory, `00000${number}.jsonl`);

  const fileNames = (): string[] => readdirSync(directory).filter((name) => name.endsWith(".jsonl"));

  test("writes one line of JSON per use, readable by this user only", () => {
    open().record(use(7));
    const chain = `"after":0,"chain":"${chainStart.digest}"`;
    expect(readFileSync(file(1), "utf8")).toBe(
      `{"at":"1970-01-01T00:00:00.007Z","tool":"tool-7","door":"mcp",${chain}}\n`,
    );
    if (process.platform === "win32") return;
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(file(1)).mode & 0o777).toBe(0o600);
  });

  test("appends to the file of an earlier process", async () => {
    const first = open();
    first.record(use(1));
    first.close();
    const second = open();
    second.record(use(2));
    expect(await readAll(second)).toEqual([use(1), use(2)]);
  });

  test("starts a new file when the current one is full, and keeps the previous file", () => {
    const ledger = open(10 * lineBytes);
    for (let number = 0; number < 35; number++) ledger.record(use(number));
    expect(fileNames()).toEqual(["000003.jsonl", "000004.jsonl"]);
  });

  test("an incomplete line does not affect the following lines", async () => {
    const first = open();
    first.record(use(1));
    first.record(use(2));
    first.close();
    truncateSync(file(1), statSync(file(1)).size - 5);
    const second = open();
    second.record(use(3));
    second.record(use(4));
    expect(await readAll(second)).toEqual([use(1), use(3), use(4)]);
  });

  test("skips lines that are damaged or of another kind", async () => {
    const ledger = open();
    ledger.record(use(1));
    appendFileSync(file(1), "\u0000\u0000\n\nnull\n[1]\n");
    ledger.record(use(2));
    expect(await readAll(ledger)).toEqual([use(1), use(2)]);
  });

  test("a deleted file is created again", async () => {
    const ledger = open();
    ledger.record(use(1));
    rmSync(file(1));
    ledger.record(use(2));
    expect(await readAll(ledger)).toEqual([use(2)]);
  });

  test("deletes no file that fits, and none of another row of numbers", async () => {
    mkdirSync(directory);
    for (const number of [1, 2, 7]) writeFileSync(file(number), oldLine(use(number)));
    const ledger = open(10 * lineBytes);
    for (let number = 10; number < 22; number++) ledger.record(use(number));
    expect(fileNames()).toEqual(["000001.jsonl", "000002.jsonl", "000003.jsonl", "000007.jsonl"]);
    expect((await readAll(ledger)).slice(0, 3)).toEqual([use(1), use(2), use(10)]);
  });

  test.each([
    ["a file far behind the last", "000500.jsonl", (place: string) => writeFileSync(place, "")],
    ["a file with the highest number", "999999999999999.jsonl", (place: string) => writeFileSync(place, "")],
    ["a file with a high number", "998999999.jsonl", (place: string) => writeFileSync(place, "")],
    ["a file before the first", "000001.jsonl", (place: string) => writeFileSync(place, "")],
    ["a file behind the last", "000006.jsonl", (place: string) => writeFileSync(place, "")],
    ["a directory in the place of the next file", "000006.jsonl", (place: string) => mkdirSync(place)],
    ["a link in the place of the next file", "000006.jsonl", (place: string) => symlinkSync("/dev/null", place)],
    ["a pipe in the place of the next file", "000006.jsonl", (place: string) => execFileSync("mkfifo", [place])],
  ])("%s neither hides nor deletes an entry, nor stops later ones", async (_, name, create) => {
    if (process.platform === "win32") return;
    mkdirSync(directory);
    const before = Array.from({ length: 12 }, (_, index) => use(index));
    writeFileSync(file(4), before.slice(0, 10).map(oldLine).join(""));
    writeFileSync(file(5), before.slice(10).map(oldLine).join(""));
    create(path.join(directory, name));
    const ledger = open(10 * lineBytes);
    expect(ledger.record(use(20))).toBeUndefined();
    expect(await readAll(ledger)).toEqual([...before, use(20)]);
    for (let number = 30; number < 50; number++) expect(ledger.record(use(number))).toBeUndefined();
    expect(await readAll(ledger)).toEqual(
      expect.arrayContaining(Array.from({ length: 10 }, (_, index) => use(40 + index))),
    );
    expect(told).toEqual([]);
  });

  test("starts where everything that is there is foreign", async () => {
    mkdirSync(path.join(directory, "000001.jsonl"), { recursive: true });
    mkdirSync(path.join(directory, "000002.jsonl"));
    const ledger = open();
    expect(ledger.record(use(1))).toBeUndefined();
    expect(await readAll(ledger)).toEqual([use(1)]);
  });

  test("goes on behind a gap before its last file", async () => {
    mkdirSync(directory, { recursive: true });
    const full = oldLine(use(1)).repeat(20);
    writeFileSync(file(6), full);
    writeFileSync(file(8), oldLine(use(2)));
    const ledger = open(full.length);
    expect(ledger.record(use(3))).toBeUndefined();
    expect(told).toEqual([]);
    expect((await readAll(ledger)).slice(-2)).toEqual([use(2), use(3)]);
  });

  test("a deleted directory is created again", async () => {
    const ledger = open();
    ledger.record(use(1));
    rmSync(directory, { recursive: true });
    ledger.record(use(2));
    expect(await readAll(ledger)).toEqual([use(2)]);
    expect(told).toEqual([]);
  });

  test("a directory that cannot be created is logged once, until it can be", async () => {
    const ledger = open();
    writeFileSync(directory, "");
    expect(ledger.record(use(1))).toBe("EEXIST");
    expect(ledger.record(use(2))).toBe("EEXIST");
    rmSync(directory);
    expect(ledger.record(use(3))).toBeUndefined();
    expect(await readAll(ledger)).toEqual([use(3)]);
    expect(told).toEqual([expect.stringMatching(/^warning Uses of skills cannot be recorded in /)]);
  });

  test.skipIf(process.platform === "win32")("never writes through a symlink", () => {
    mkdirSync(directory);
    const target = path.join(path.dirname(directory), "target");
    writeFileSync(target, "");
    symlinkSync(target, file(1));
    open().record(use(1));
    expect(readFileSync(target, "utf8")).toBe("");
    expect(readFileSync(file(2), "utf8")).toBe(`${toLedgerLine(use(1), chainStart)}\n`);
  });

  test("loses no entries when several processes write and rotate files concurrently", async () => {
    const program = fileURLToPath(new URL("recording-process.js", import.meta.url));
    const names = ["a", "b", "c", "d"];
    const count = 300;
    // Small enough for dozens of rotations, each started by whichever process is first.
    const runs = names.map((name) =>
      promisify(execFile)(process.execPath, [program, directory, name, String(count), String(16 * 1024)]),
    );
    for (const { stderr } of await Promise.all(runs)) expect(stderr).toBe("");
    const kept = (await readAll(open())).filter(({ event }) => event !== "dropped");
    const numbers = fileNames()
      .map((name) => Number.parseInt(name, 10))
      .sort((a, b) => a - b);
    expect(numbers).toHaveLength(2);
    expect(numbers[1]).toBe((numbers[0] ?? 0) + 1);
    for (const name of names) {
      // The latest entries of each process are present once, in order and without gaps.
      const times = kept.filter(({ tool }) => tool === name).map(({ at }) => at);
      expect(times).toEqual(Array.from({ length: times.length }, (_, index) => count - times.length + index));
    }
    expect(kept.length).toBeGreaterThan(100);
  });
});

const refused = (facts: Partial<LedgerEntry> = {}): LedgerEntry => ({
  at: 1,
  tool: "execute_skill",
  caller: "ci",
  outcome: "refused",
  code: "SKILL_NOT_FOUND",
  door: "http",
  ...facts,
});

function open(): { ledger: Ledger; rows: LedgerEntry[]; clock: ReturnType<typeof manualClock> } {
  const rows: LedgerEntry[] = [];
  const clock = manualClock();
  const inner: Ledger = {
    record: (entry) => void rows.push(entry),
    read: () => Readable.from(rows) as AsyncIterable<LedgerEntry>,
    close: () => undefined,
  };
  return { ledger: countRefusals(inner, clock), rows, clock };
}

test("refusals of one caller for one reason are a row at once, and one a minute that counts the others", () => {
  const { ledger, rows, clock } = open();
  for (let call = 0; call < 20_000; call++) ledger.record(refused({ at: call, asked: `skill-${call}` }));
  expect(rows).toEqual([refused({ at: 0, asked: "skill-0" })]);
  clock.pass(60_000);
  expect(rows.slice(1)).toEqual([
    refused({ at: 19_999, asked: "skill-19999", about: "asked for skill-1, skill-2, skill-3", count: 19_999 }),
  ]);
  ledger.record(refused({ at: 5 }));
  clock.pass(60_000);
  expect(rows).toHaveLength(3);
});

test("waits for what a ledger has yet to write, which is nothing for one that has written when it returns", async () => {
  const inner: Ledger = {
    record: () => undefined,
    read: () => Readable.from([]) as AsyncIterable<LedgerEntry>,
    close: () => undefined,
  };
  const slow: Ledger = { ...inner, flush: () => Promise.resolve("the disk is full") };
  expect(await countRefusals(slow, manualClock()).flush?.()).toBe("the disk is full");
  expect(await countRefusals(inner, manualClock()).flush?.()).toBeUndefined();
});

test("distinguishes callers, sessions, transports and reasons, and counts nothing else", () => {
  const { ledger, rows } = open();
  const different = [
    { caller: "kim" },
    { sessionId: "s" },
    { door: "mcp" },
    { code: "PERMISSION_DENIED" },
    { event: "refusal" },
  ];
  for (const facts of [{}, ...different]) ledger.record(refused(facts));
  expect(rows).toHaveLength(6);
  for (let call = 0; call < 5; call++)
    ledger.record({ at: 1, tool: "list_skills", outcome: "completed", door: "http" });
  expect(rows).toHaveLength(11);
});

test("writes what it counted when it is closed, and when there are too many callers", () => {
  const { ledger, rows } = open();
  for (const caller of ["one", "one", ...Array.from({ length: 1_000 }, (_, index) => `c${index}`)])
    ledger.record(refused({ caller }));
  expect(rows.filter(({ count }) => count !== undefined)).toEqual([refused({ caller: "one", count: 1 })]);
  ledger.record(refused({ caller: "c5" }));
  ledger.close();
  expect(rows.at(-1)).toEqual(refused({ caller: "c5", count: 1 }));
});
