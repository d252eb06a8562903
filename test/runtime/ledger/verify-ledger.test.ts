import { execFile } from "node:child_process";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import type { LedgerEntry } from "../../../src/runtime/ledger.ts";
import { type DiskLedgerOptions, diskLedger } from "../../../src/runtime/ledger/disk-ledger.ts";
import { type LedgerCheck, verifyLedger } from "../../../src/runtime/ledger/verify-ledger.ts";

let directory = "";
beforeEach(({ onTestFinished }) => {
  directory = mkdtempSync(path.join(tmpdir(), "acp-skills-ledger-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
});

const grant = (number: number): LedgerEntry => ({ at: number, event: "grant", tool: "approvals", skill: `s-${number}`, door: "cli" }); // prettier-ignore

function write(count: number, options: Partial<DiskLedgerOptions> = {}): void {
  const ledger = diskLedger(directory, { log: silentLog, now: () => Date.now(), ...options });
  for (let number = 1; number <= count; number++) expect(ledger.record(grant(number))).toBeUndefined();
  ledger.close();
}

async function decisions(audits: Iterable<string> = []): Promise<LedgerCheck | undefined> {
  return (await verifyLedger(directory, audits)).find(({ room }) => room === "decisions");
}

const first = (): string => path.join(directory, "decisions/000001.jsonl");
const rowsOf = (file: string): string[] => readFileSync(file, "utf8").trimEnd().split("\n");

describe("ledger verify", () => {
  test("finds nothing wrong in what was written, in any number of files", async () => {
    write(500, { maxFileBytes: 8 * 1024 });
    const files = readdirSync(path.join(directory, "decisions")).filter((name) => name.endsWith(".jsonl"));
    expect(files.length).toBeGreaterThan(5);
    // Each full file ends with a row that seals it.
    const rows = 500 + files.length - 1;
    expect(await decisions()).toMatchObject({ first: 1, last: rows, unchained: 0 });
    expect((await verifyLedger(directory)).every(({ fault }) => fault === undefined)).toBe(true);
  });

  test("finds any change, removal or move of rows before the last of 10,000", async () => {
    write(10_000, { maxFileBytes: 64 * 1024 * 1024 });
    const intact = rowsOf(first());
    // Whoever changes the rows can change this file, too.
    rmSync(path.join(directory, "decisions/newest.json"));
    const place = fc.integer({ min: 0, max: intact.length - 2 });
    const change = fc.oneof(
      fc.record({ kind: fc.constant("remove"), from: place, count: fc.integer({ min: 1, max: 9_999 }) }),
      fc.record({ kind: fc.constant("change"), from: place, count: fc.nat(200) }),
      fc.record({ kind: fc.constant("move"), from: place, count: place }),
      // Before the last row it is as if two processes had written at the same moment.
      fc.record({ kind: fc.constant("repeat"), from: fc.nat(intact.length - 3), count: fc.nat(3) }),
    );
    await fc.assert(
      fc.asyncProperty(change, async ({ kind, from, count }) => {
        const rows = [...intact];
        const row = rows[from] ?? "";
        if (kind === "remove") rows.splice(from, Math.min(count, rows.length - 1 - from));
        else if (kind === "repeat") rows.splice(from, 0, row);
        else if (kind === "change") {
          const at = count % row.length;
          rows[from] = `${row.slice(0, at)}${row[at] === "x" ? "y" : "x"}${row.slice(at + 1)}`;
        } else {
          fc.pre(from !== count);
          rows.splice(count, 0, ...rows.splice(from, 1));
        }
        writeFileSync(first(), `${rows.join("\n")}\n`);
        const { fault } = (await decisions()) ?? {};
        expect(fault).toBeDefined();
        // The first row that is not what it was; a changed row may be found by its own digest of those before it.
        const changed = rows.findIndex((one, index) => one !== intact[index]);
        expect(Math.abs((fault?.row ?? 0) - (changed + 1))).toBeLessThanOrEqual(1);
      }),
      { numRuns: 60 },
    );
  });

  test.each([
    ["a changed row", (rows: string[]) => (rows[4] = (rows[4] ?? "").replace("s-5", "s-9")), 5],
    ["a row whose digest was changed", (rows: string[]) => (rows[4] = (rows[4] ?? "").replace(/"chain":"../, '"chain":"zz')), 5], // prettier-ignore
    ["a missing row", (rows: string[]) => rows.splice(4, 1), 5],
    ["a row that was added", (rows: string[]) => rows.splice(4, 0, rows[1] ?? ""), 5],
    ["the first row missing", (rows: string[]) => rows.splice(0, 1), 1],
    ["the last rows missing", (rows: string[]) => rows.splice(8, 2), 9],
    ["the last row changed", (rows: string[]) => (rows[9] = (rows[9] ?? "").replace("s-10", "s-11")), 10],
    ["all rows missing", (rows: string[]) => rows.splice(0), 1],
  ])("names %s", async (_, tamper, row) => {
    write(10);
    const rows = rowsOf(first());
    tamper(rows);
    writeFileSync(first(), rows.map((line) => `${line}\n`).join(""));
    expect((await decisions())?.fault?.row).toBe(row);
  });

  test("names the first row of a file that is missing", async () => {
    write(200, { maxFileBytes: 8 * 1024 });
    const second = path.join(directory, "decisions/000002.jsonl");
    const { after } = JSON.parse(rowsOf(second)[0] ?? "") as { after: number };
    rmSync(second);
    expect((await decisions())?.fault?.row).toBe(after + 1);
  });

  test("rows that are removed by their age or their number are named first, and nobody can remove more", async () => {
    const told: string[] = [];
    const log = (_level: string, message: string): void => void told.push(message);
    write(500, { maxFileBytes: 8 * 1024, maxBytes: 24 * 1024, log });
    const numbers = readdirSync(path.join(directory, "decisions")).filter((name) => name.endsWith(".jsonl"));
    expect(numbers.length).toBeLessThanOrEqual(4);
    expect(told).toEqual([
      expect.stringMatching(/^Old rows of the ledger are removed: decisions, rows up to \d+, written until /),
    ]);
    const { first: begin = 0, fault } = (await decisions()) ?? {};
    expect(fault).toBeUndefined();
    expect(begin).toBeGreaterThan(300);
    rmSync(path.join(directory, "decisions", numbers[0] ?? ""));
    expect((await decisions())?.fault?.row).toBe(begin);
  });

  test("decisions and runs are not washed away by what is refused or read", async () => {
    const ledger = diskLedger(directory, { log: silentLog, maxFileBytes: 8 * 1024 });
    ledger.record(grant(1));
    ledger.record({ at: 2, tool: "execute_skill", outcome: "completed", door: "http" });
    for (let number = 0; number < 5_000; number++) {
      ledger.record({ at: 3, tool: "execute_skill", outcome: "refused", code: "SKILL_NOT_FOUND", door: "http" });
      ledger.record({ at: 3, tool: "read_skill_file", outcome: "completed", door: "http" });
    }
    const kept: LedgerEntry[] = [];
    for await (const entry of ledger.read()) kept.push(entry);
    ledger.close();
    expect(kept.slice(0, 2)).toMatchObject([{ event: "grant" }, { tool: "execute_skill", outcome: "completed" }]);
    expect(kept.length).toBeLessThan(200);
    expect((await verifyLedger(directory)).every(({ fault }) => fault === undefined)).toBe(true);
  });

  test("compares with the lines of an audit: what was rewritten as a whole is found, too", async () => {
    const audited: string[] = [];
    write(10, { audit: (line) => void audited.push(line) });
    expect(audited).toHaveLength(10);
    expect(JSON.parse(audited[0] ?? "")).toMatchObject({ room: "decisions", skill: "s-1", after: 0 });
    expect((await decisions(audited))?.fault).toBeUndefined();
    rmSync(path.join(directory, "decisions"), { recursive: true });
    const ledger = diskLedger(directory, { log: silentLog });
    for (let number = 1; number <= 10; number++) ledger.record(grant(number + (number === 7 ? 100 : 0)));
    ledger.close();
    expect((await decisions())?.fault).toBeUndefined();
    expect((await decisions(audited))?.fault?.row).toBe(7);
  });

  test("rows of earlier versions have no digests, and are protected by those that follow", async () => {
    write(0);
    const old = '{"at":"2026-11-21T10:00:00.000Z","tool":"list_skills","door":"mcp"}\n';
    writeFileSync(path.join(directory, "000001.jsonl"), old.repeat(5));
    const ledger = diskLedger(directory, { log: silentLog });
    ledger.record({ at: 1, tool: "list_skills", door: "mcp" });
    ledger.close();
    const uses = async (): Promise<LedgerCheck | undefined> => (await verifyLedger(directory)).find(({ room }) => room === "uses"); // prettier-ignore
    expect(await uses()).toMatchObject({ first: 1, last: 6, unchained: 5 });
    expect((await uses())?.fault).toBeUndefined();
    appendFileSync(path.join(directory, "000001.jsonl"), old);
    expect((await uses())?.fault?.row).toBe(7);
    const rows = rowsOf(path.join(directory, "000001.jsonl")).slice(1, 6);
    writeFileSync(path.join(directory, "000001.jsonl"), `${rows.join("\n")}\n`);
    expect((await uses())?.fault?.row).toBe(5);
  });

  test("two full files of an earlier version are no fault, before and after the first of them is removed", async () => {
    const old = '{"at":"2026-11-21T10:00:00.000Z","tool":"list_skills","door":"mcp"}\n';
    writeFileSync(path.join(directory, "000001.jsonl"), old.repeat(120));
    writeFileSync(path.join(directory, "000002.jsonl"), old.repeat(20));
    const uses = async (): Promise<LedgerCheck | undefined> => (await verifyLedger(directory)).find(({ room }) => room === "uses"); // prettier-ignore
    const ledger = diskLedger(directory, { log: silentLog, maxFileBytes: 8 * 1024 });
    for (let number = 0; number < 10; number++) ledger.record({ at: 1, tool: "list_skills", door: "mcp" });
    expect((await uses())?.fault).toBeUndefined();
    expect(await uses()).toMatchObject({ last: 30, unchained: 20 });
    for (let number = 0; number < 200; number++) ledger.record({ at: 1, tool: "list_skills", door: "mcp" });
    ledger.close();
    expect((await uses())?.fault).toBeUndefined();
  });

  test("a row that was torn by a full disk is no fault", async () => {
    write(3);
    appendFileSync(first(), '{"at":"2026-11-21T10:00:02');
    write(3);
    expect(await decisions()).toMatchObject({ last: 7 });
    expect((await decisions())?.fault).toBeUndefined();
  });

  test("is intact after several processes wrote and started files at the same time", async () => {
    const program = fileURLToPath(new URL("recording-process.js", import.meta.url));
    const runs = ["a", "b", "c", "d"].map((name) =>
      promisify(execFile)(process.execPath, [program, directory, name, "300", String(16 * 1024)]),
    );
    for (const { stderr } of await Promise.all(runs)) expect(stderr).not.toContain("cannot be recorded");
    for (const { fault } of await verifyLedger(directory)) expect(fault).toBeUndefined();
  });
});
