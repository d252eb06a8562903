import path from "node:path";
import { createHash } from "node:crypto";
import { readFile, readdir, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import * as z from "zod";
import { systemCode } from "../../base/failures/system-error.ts";
import { LimitedMap } from "../../base/limited-map.ts";
import type { Log } from "../../base/log.ts";
import { makeOwnDirectories } from "../../base/paths/directories.ts";
import { identifyProcess, isRunning } from "../../base/processes/live-process.ts";
import { inParallel } from "../../base/promises.ts";
import { SkillsError } from "../../base/errors.ts";
import { runResult, runSpec } from "./run-spec.ts";

/** A run: its spec, its progress and its outcome. */
const storedRunSchema = z.strictObject({
  spec: runSpec,
  /** Milliseconds since 1970. */
  createdAt: z.number(),
  /** `interrupted`: the process ended before the run that it executed. */
  status: z.enum(["queued", "running", "interrupted", "completed", "failed", "refused", "cancelled"]),
  /** The events without printed text. `atMs` counts from `createdAt`. */
  events: z.array(z.looseObject({ atMs: z.number(), type: z.string() })).readonly(),
  /** Present if the run started and ended. */
  result: runResult.exactOptional(),
  /** Why the run was refused. */
  error: z.strictObject({ code: z.string(), message: z.string() }).exactOptional(),
});

export type StoredRun = z.infer<typeof storedRunSchema>;

/** Checks a record. Throws ZodError. */
export function parseStoredRun(value: unknown): StoredRun {
  return storedRunSchema.parse(value);
}

/** The limits of the stored records. */
export interface RunRetention {
  readonly ttlMs: number;
  /** The maximum number of stored runs of one owner; the oldest ones beyond it are removed. */
  readonly maxRuns: number;
  readonly maxBytes: number;
}

/** The port to the records of runs. */
export interface RunStore {
  /**
   * Stores a record later and replaces an earlier one of the same run; until then, `read` returns it from memory. Never throws, because
   * a run does not depend on its record.
   */
  keep(run: StoredRun): void;
  /** Waits until all records so far are stored. Returns whether a record of this run survives the end of this process. */
  stored(runId: string): Promise<boolean>;
  /** Reads the record of a run; undefined if it was never stored or has been removed. */
  read(runId: string): Promise<StoredRun | undefined>;
  /** Lists the records, newest first. */
  list(): AsyncIterable<StoredRun>;
  /** Waits until all pending records are stored. */
  close(): Promise<void>;
}

export interface DiskRunStoreOptions extends Partial<RunRetention> {
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Receives a warning if records cannot be stored, once until storing works again, and one for each damaged record. */
  readonly log: Log;
}

interface RecordFile {
  readonly file: string;
  readonly createdAt: number;
  readonly runId: string;
}

/** A record as it is on disk: if its run has not ended, it names the process that executes the run. */
const recordedRun = storedRunSchema.extend({
  process: z.strictObject({ pid: z.number(), started: z.string(), space: z.string() }).exactOptional(),
});

const sweepEveryMs = 60 * 60 * 1000;
const nameForm = /^(\d{13})-(run_[A-Za-z0-9]{10,64})\.json$/;
const temporaryForm = /^\.(\d{13})-.*\.tmp$/;

/** The maximum number of records that are written at a time. */
const writtenAtOnce = 16;

/**
 * Opens the records of runs: JSON files `<owner's digest>/<created at>-<run id>.json`, in a directory that any number of processes may
 * share. Each is written to a temporary file and renamed. Storing records also removes those that expired or exceed an owner's limits.
 */
export function diskRunStore(directory: string, options: DiskRunStoreOptions): RunStore {
  return new DiskRunStore(directory, options);
}

class DiskRunStore implements RunStore {
  readonly #directory: string;
  readonly #options: RunRetention & { readonly now: () => number; readonly log: Log };
  /** The runs and bytes stored since an owner's directory was last pruned, by that directory. */
  readonly #unpruned = new Map<string, { runs: number; bytes: number }>();
  /** The records that are not on disk yet, by run id; of several records of one run, only the last is written. */
  readonly #pending: Map<string, StoredRun>;
  /** The files that this process has written, by run id. */
  readonly #written: Map<string, RecordFile>;
  #last: Promise<void> = Promise.resolve();
  /** The next write, which has not started yet. It writes all records that are pending when it starts. */
  #next: Promise<void> | undefined;
  #sweptAt = -Infinity;
  /** The identity of this process, for records of runs that have not ended. */
  #process: ReturnType<typeof identifyProcess> | undefined;
  #isReported = false;

  constructor(directory: string, { now = Date.now, log, ...retention }: DiskRunStoreOptions) {
    this.#directory = directory;
    this.#options = { ...runRetention, ...retention, now, log };
    this.#pending = new LimitedMap(this.#options.maxRuns);
    this.#written = new LimitedMap(this.#options.maxRuns);
  }

  keep(run: StoredRun): void {
    this.#pending.set(run.spec.runId, run);
    this.#next ??= this.#last = this.#last.then(async () => {
      // Write after the call that caused the run was answered.
      await setImmediate();
      this.#next = undefined;
      await this.#writePending();
    });
  }

  async stored(runId: string): Promise<boolean> {
    await this.#last;
    return this.#written.has(runId);
  }

  async read(runId: string): Promise<StoredRun | undefined> {
    const pending = this.#pending.get(runId);
    if (pending !== undefined) return pending;
    const written = this.#written.get(runId);
    const found = written === undefined ? (await this.#files()).find((file) => file.runId === runId) : written;
    return found !== undefined && this.#isFresh(found) ? await this.#readRecord(found) : undefined;
  }

  async *list(): AsyncGenerator<StoredRun> {
    await this.#last;
    for (const file of (await this.#files()).sort((a, b) => b.createdAt - a.createdAt)) {
      const run = await this.#readRecord(file);
      if (run !== undefined) yield run;
    }
  }

  async close(): Promise<void> {
    await this.#last;
  }

  /** Writes the pending records. A record that cannot be written stays pending and is retried with the next one. */
  async #writePending(): Promise<void> {
    let failure: string | undefined;
    await inParallel([...this.#pending], writtenAtOnce, async ([runId, run]) => {
      try {
        await this.#store(run);
        if (this.#pending.get(runId) === run) this.#pending.delete(runId);
      } catch (error) {
        failure = String(error);
      }
    });
    try {
      await this.#pruneWhereDue();
    } catch (error) {
      failure = String(error);
    }
    if (failure !== undefined && !this.#isReported)
      this.#options.log("warning", `Runs cannot be recorded in ${this.#directory}: ${failure}`);
    this.#isReported = failure !== undefined;
  }

  async #store(run: StoredRun): Promise<void> {
    const { runId, owner: ownerName } = run.spec;
    const hasEnded = run.status !== "queued" && run.status !== "running";
    const record = hasEnded ? run : { ...run, process: (this.#process ??= identifyProcess()) };
    const json = Buffer.from(JSON.stringify(record));
    if (json.length > this.#options.maxBytes) return;
    const owner = path.join(this.#directory, createHash("sha256").update(ownerName).digest("hex").slice(0, 32));
    makeOwnDirectories(this.#directory, 0o700);
    makeOwnDirectories(owner, 0o700);
    const createdAt = Math.floor(run.createdAt);
    const name = `${String(createdAt).padStart(13, "0")}-${runId}`;
    const temporary = path.join(owner, `.${name}.tmp`);
    const file = path.join(owner, `${name}.json`);
    try {
      await writeFile(temporary, json, { flag: "wx", mode: 0o600 });
      await rename(temporary, file);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    this.#written.set(runId, { file, createdAt, runId });
    if (!hasEnded) return;
    const stored = this.#unpruned.get(owner) ?? { runs: 0, bytes: 0 };
    stored.runs += 1;
    stored.bytes += json.length;
    this.#unpruned.set(owner, stored);
  }

  /** Prunes all owners every hour, and one owner after each tenth of a limit. So each process exceeds a limit by at most a tenth. */
  async #pruneWhereDue(): Promise<void> {
    const { maxRuns, maxBytes, now } = this.#options;
    const isSweep = now() - this.#sweptAt >= sweepEveryMs;
    if (isSweep) this.#sweptAt = now();
    const owners = isSweep
      ? (await namesIn(this.#directory)).map((name) => path.join(this.#directory, name))
      : [...this.#unpruned]
          .filter(([, { runs, bytes }]) => runs * 10 >= maxRuns || bytes * 10 >= maxBytes)
          .map(([owner]) => owner);
    for (const owner of owners) {
      this.#unpruned.delete(owner);
      await this.#prune(owner);
    }
  }

  /** Removes expired records, records that exceed the limits of their owner, and temporary files of crashed processes. */
  async #prune(owner: string): Promise<void> {
    const { ttlMs, maxRuns, maxBytes, now } = this.#options;
    let [runs, bytes] = [0, 0];
    const names = await namesIn(owner);
    for (const name of names.toSorted().reverse()) {
      const file = path.join(owner, name);
      const createdAt = Number((nameForm.exec(name) ?? temporaryForm.exec(name))?.[1]);
      if (Number.isNaN(createdAt)) continue;
      const { size = 0 } = await stat(file).catch(() => ({ size: undefined }));
      if (nameForm.test(name)) {
        runs += 1;
        bytes += size;
      }
      const isLeftOver = temporaryForm.test(name) && createdAt + sweepEveryMs <= now();
      if (isLeftOver || createdAt + ttlMs <= now() || runs > maxRuns || bytes > maxBytes)
        await rm(file, { force: true });
    }
    // Fails, as intended, if the directory is not empty.
    if (runs === 0) await rmdir(owner).catch(() => undefined);
  }

  async #files(): Promise<RecordFile[]> {
    const found: RecordFile[] = [];
    for (const owner of await namesIn(this.#directory)) {
      for (const name of await namesIn(path.join(this.#directory, owner))) {
        const [, createdAt = "", runId = ""] = nameForm.exec(name) ?? [];
        const file = { file: path.join(this.#directory, owner, name), createdAt: Number(createdAt), runId };
        if (runId !== "" && this.#isFresh(file)) found.push(file);
      }
    }
    return found;
  }

  #isFresh({ createdAt }: RecordFile): boolean {
    return createdAt + this.#options.ttlMs > this.#options.now();
  }

  async #readRecord({ file, runId }: RecordFile): Promise<StoredRun | undefined> {
    try {
      const { process, ...run } = recordedRun.parse(JSON.parse(await readFile(file, "utf8")));
      if (run.spec.runId === runId)
        return process === undefined || isRunning(process) !== false ? run : { ...run, status: "interrupted" };
      this.#options.log("warning", `The run record ${file} was skipped: it is that of another run.`);
    } catch (error) {
      // Another process removed the record meanwhile.
      if (systemCode(error) === "ENOENT") return undefined;
      const why = (error instanceof Error ? error.message : String(error)).slice(0, 200);
      this.#options.log("warning", `The run record ${file} was skipped: it is damaged or cannot be read (${why}).`);
    }
    return undefined;
  }
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    const message = `The run records in ${directory} cannot be read: ${String(error)}`;
    throw new SkillsError("UNREADABLE", message, { cause: error, facts: { path: directory } });
  }
}

export const runRetention: RunRetention = Object.freeze({
  ttlMs: 24 * 60 * 60 * 1000,
  maxRuns: 10_000,
  maxBytes: 64 * 1024 * 1024,
});
