import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, expect, test } from "vitest";
import { identifyProcess } from "../../../src/base/processes/live-process.ts";
import { diskSessionRecords } from "../../../src/runtime/ledger/disk-session-records.ts";
import type { SessionRecord, SessionRecords } from "../../../src/runtime/ledger.ts";
import { manualClock } from "../../manual-clock.ts";

let directory: string;
let clock: ReturnType<typeof manualClock>;
let warnings: string[];

beforeEach(({ onTestFinished }) => {
  const temporary = realpathSync(mkdtempSync(path.join(tmpdir(), "session-records-")));
  onTestFinished(() => rmSync(temporary, { recursive: true, force: true }));
  directory = path.join(temporary, "sessions");
  clock = manualClock();
  warnings = [];
});

function open(): SessionRecords {
  return diskSessionRecords(directory, { clock, log: (_level, message) => void warnings.push(message) });
}

const record: SessionRecord = {
  sessionId: "sess_1",
  agent: "agent",
  editor: "editor",
  directory: "/project",
  openedAt: 1_000,
  forms: ["available_commands_update"],
  tools: true,
  announced: { at: 1_050, skills: 2, names: ["pdf", "greet"] },
};

test("another reader finds what was recorded, as open", async () => {
  const records = open();
  records.keep({}, record);
  await records.close();
  expect(await open().read()).toEqual([{ ...record, isOpen: true }]);
});

test("the latest record of a session replaces the one before, and sessions stay apart", async () => {
  const [records, first, second] = [open(), {}, {}];
  records.keep(first, record);
  records.keep(second, { ...record, sessionId: "sess_2", openedAt: 2_000 });
  records.keep(first, { ...record, closedAt: 3_000 });
  expect(await records.read()).toMatchObject([
    { sessionId: "sess_2", isOpen: true },
    { sessionId: "sess_1", isOpen: false, closedAt: 3_000 },
  ]);
});

test("changes that come together are written once, after a pause", async () => {
  const records = open();
  const session = {};
  records.keep(session, record);
  records.keep(session, { ...record, closedAt: 2_000 });
  expect(readdirIfThere()).toEqual([]);
  clock.pass(250);
  await records.close();
  expect(readdirIfThere()).toHaveLength(1);
});

test("a session of a process that ended without closing it is closed", async () => {
  mkdirSync(directory, { mode: 0o700 });
  const gone = { ...identifyProcess(), pid: 2 ** 30 };
  const file = path.join(directory, "1073741824-0123456789ab.json");
  writeFileSync(file, JSON.stringify({ process: gone, sessions: [record] }));
  utimesSync(file, 50, 50);
  expect(await open().read()).toEqual([{ ...record, isOpen: false, closedAt: 50_000 }]);
});

test("a damaged file hides no other", async () => {
  const records = open();
  records.keep({}, record);
  await records.read();
  writeFileSync(path.join(directory, "12-0123456789ab.json"), '{"process": 1, "sessions": [');
  writeFileSync(path.join(directory, "13-0123456789ab.json"), '{"process": {}, "sessions": "many"}');
  writeFileSync(path.join(directory, "notes.txt"), "not a record");
  expect(await records.read()).toHaveLength(1);
});

test("only this user can read what is written", async () => {
  const records = open();
  records.keep({}, record);
  await records.close();
  const [name = ""] = readdirIfThere();
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(statSync(path.join(directory, name)).mode & 0o777).toBe(0o600);
});

test("texts, names and sessions are bounded", async () => {
  const records = open();
  const names = Array.from({ length: 1_000 }, (_, at) => `skill-${at}`);
  for (let at = 0; at < 60; at++)
    records.keep({}, { ...record, sessionId: "x".repeat(100_000), announced: { at, skills: 1_000, names } });
  const known = await records.read();
  expect(known).toHaveLength(50);
  expect(known[0]?.sessionId).toHaveLength(1_024);
  expect(known[0]?.announced).toMatchObject({ skills: 1_000, names: { length: 300 } });
});

test("old files of others are removed, new ones stay", async () => {
  mkdirSync(directory, { mode: 0o700 });
  const [old, recent] = ["1-0123456789ab.json", "2-0123456789ab.json"];
  for (const name of [old, recent]) writeFileSync(path.join(directory, name), "{}");
  utimesSync(path.join(directory, old), 1, 1);
  const records = open();
  records.keep({}, record);
  await records.close();
  expect(readdirIfThere()).toContain(recent);
  expect(readdirIfThere()).not.toContain(old);
});

test("a directory that cannot be written is reported once, and nothing throws", async () => {
  writeFileSync(directory, "a file is in the way");
  const records = open();
  const session = {};
  records.keep(session, record);
  await records.close();
  expect(warnings).toEqual([expect.stringContaining("Sessions cannot be recorded in")]);
});

test("records after closing are ignored", async () => {
  const records = open();
  await records.close();
  records.keep({}, record);
  await records.close();
  expect(readdirIfThere()).toEqual([]);
});

function readdirIfThere(): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
