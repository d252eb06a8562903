import path from "node:path";
import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { makeOwnDirectories, namesIn } from "../../base/paths/directories.ts";
import {
  type SessionRecord,
  type SessionRecords,
  maxTextLength,
  maxReportedNames,
  maxForms,
  maxSessions,
} from "../ledger.ts";
import { identifyProcess } from "../../base/processes/live-process.ts";

interface DiskSessionRecordsOptions {
  readonly clock: Clock;
  readonly log: Log;
}

/** Changes within this time are written together. */
const writeAfterMs = 250;
const maxFiles = 100;
const retentionMs = 7 * 24 * 60 * 60 * 1_000;

/** Records in a directory shared by any number of processes: one file per process, replaced as a whole. Created with the first record. */
export function diskSessionRecords(directory: string, { clock, log }: DiskSessionRecordsOptions): SessionRecords {
  const own = path.join(directory, `${process.pid}-${randomBytes(6).toString("hex")}.json`);
  const records = new Map<object, object>();
  let stopTimer: (() => void) | undefined;
  let writing = Promise.resolve();
  let isSwept = false;
  let isReported = false;
  let isOpen = true;

  async function write(): Promise<void> {
    try {
      makeOwnDirectories(directory, 0o700);
      const temporary = `${own}.tmp`;
      const content = JSON.stringify({ process: identifyProcess(), sessions: [...records.values()] });
      await writeFile(temporary, content, { mode: 0o600 });
      await rename(temporary, own);
      if (!isSwept) await sweep(directory, own);
      isSwept = true;
    } catch (error) {
      if (!isReported) log("warning", `Sessions cannot be recorded in ${directory}: ${String(error)}`);
      isReported = true;
    }
  }

  function flush(): Promise<void> {
    if (stopTimer === undefined) return writing;
    stopTimer();
    stopTimer = undefined;
    writing = writing.then(write);
    return writing;
  }

  return {
    keep(session, record) {
      if (!isOpen) return;
      records.set(session, toWritten(record));
      const [oldest] = records.keys();
      if (records.size > maxSessions && oldest !== undefined) records.delete(oldest);
      stopTimer ??= clock.after(writeAfterMs, () => void flush());
    },
    async read() {
      await flush();
      // Checking what others wrote takes a schema library, which recording does not.
      const { readSessionRecords } = await import("./read-session-records.ts");
      return await readSessionRecords(directory);
    },
    async close() {
      isOpen = false;
      await flush();
    },
  };
}

/** A record of bounded size, as the file has it. */
function toWritten(record: SessionRecord): object {
  const cut = (value: string): string => value.slice(0, maxTextLength);
  const { sessionId, agent, editor, directory, forms, announced, ...rest } = record;
  return {
    ...rest,
    sessionId: cut(sessionId),
    agent: cut(agent),
    editor: cut(editor),
    directory: directory === undefined ? undefined : cut(directory),
    forms: forms.slice(0, maxForms).map(cut),
    ...(announced !== undefined && {
      announced: { ...announced, names: announced.names.slice(0, maxReportedNames).map(cut) },
    }),
  };
}

/** Removes files older than `retentionMs`, and the oldest ones beyond `maxFiles`. */
async function sweep(directory: string, own: string): Promise<void> {
  const files: { readonly file: string; readonly at: number }[] = [];
  for (const name of namesIn(directory)) {
    const file = path.join(directory, name);
    // Another process may have removed it.
    if (file !== own) files.push({ file, at: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 });
  }
  files.sort((one, other) => other.at - one.at);
  const now = Date.now();
  const old = files.filter(({ at }, index) => index >= maxFiles || now - at > retentionMs);
  for (const { file } of old) await rm(file, { force: true });
}
