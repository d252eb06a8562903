import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type App, openApp } from "../../src/runtime/app.ts";
import { type Caller, createCaller } from "../../src/runtime/caller.ts";
import { readOptions } from "../../src/runtime/options.ts";
import type { Log } from "../../src/base/log.ts";
import { openCluster } from "../../src/cluster/open-cluster.ts";
import { migrateQueue } from "../../src/cluster/runs/job-queue.ts";
import { type WorkerOptions, runWorker } from "../../src/cluster/worker.ts";
import { type Database, openDatabase, parseClusterUrl } from "../../src/cluster/database.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { RunEvent } from "../../src/wire/run-event.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";

/** A server as transports see it. */
export interface OpenServer {
  readonly app: App;
  readonly caller: Caller;
  readonly events: RunEvent[];
  close(): Promise<void>;
}

interface OpenWorker {
  readonly id: string;
  readonly labels: readonly string[];
  stop(): Promise<void>;
}

/** A cluster in this process: servers and workers over one database, each with a data directory of its own. */
export interface OpenCluster {
  readonly postgres: PostgresServer;
  readonly database: Database;
  readonly url: string;
  readonly log: string[];
  /** Temporary. */
  readonly directory: string;
  /** A directory of skills that servers read. */
  readonly skills: string;
  writeSkill(name: string, files: Readonly<Record<string, string>>): void;
  /** `policy`: a file that only this server has. */
  openServer(facts?: Partial<Caller>, policy?: string): Promise<OpenServer>;
  openWorker(options?: Partial<WorkerOptions>): Promise<OpenWorker>;
  /** Closes all members, and forgets all runs. */
  closeMembers(): Promise<void>;
  close(): Promise<void>;
}

interface MemberOptions {
  /** Where members reach the database, if that is not its own port. */
  readonly through?: (port: number) => Promise<number>;
  /** The directory in which the database stores its files. Default: a temporary one. */
  readonly postgresIn?: string | undefined;
}

export async function openMembers({ through, postgresIn }: MemberOptions = {}): Promise<OpenCluster> {
  const postgres = await startPostgres(postgresIn);
  const direct = await postgres.newDatabase();
  const url =
    through === undefined ? direct : direct.replace(`:${postgres.port}/`, `:${await through(postgres.port)}/`);
  const database = await openDatabase(parseClusterUrl(direct), { log: silentLog, clock: systemClock });
  await migrateQueue(database, silentLog);
  const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-cluster-"));
  const skills = path.join(directory, "skills");
  mkdirSync(skills);
  const lines: string[] = [];
  const log: Log = (level, message) => void lines.push(`${level} ${message}`);
  const closing: (() => Promise<unknown>)[] = [];
  let count = 0;
  const settingsOf = (name: string, policy?: string) =>
    readOptions(
      {
        cluster: url,
        dataDirectory: path.join(directory, `${name}-${count++}`),
        directories: [skills],
        defaultRoots: false,
        log,
        ...(policy !== undefined && { policy }),
      },
      { home: directory },
    );
  return {
    postgres,
    database,
    url,
    log: lines,
    directory,
    skills,
    writeSkill(name, files) {
      for (const [file, text] of Object.entries(files)) {
        const place = path.join(skills, name, file);
        mkdirSync(path.dirname(place), { recursive: true });
        writeFileSync(place, text);
      }
    },
    async openServer(facts = {}, policy) {
      const settings = settingsOf("server", policy);
      const app = openApp(settings, await openCluster(settings));
      const session = app.openSession({});
      await session.catalog.ready;
      const events: RunEvent[] = [];
      const caller = {
        ...createCaller(session, { transport: "mcp", onEvent: (event) => events.push(event) }),
        ...facts,
      };
      const close = async (): Promise<void> => {
        session.close();
        await app.close();
      };
      closing.push(close);
      return { app, caller, events, close };
    },
    async openWorker(options = {}) {
      const abort = new AbortController();
      let end: Promise<void> = Promise.resolve();
      const started = await new Promise<{ id: string; labels: readonly string[] }>((resolve, reject) => {
        end = runWorker(
          settingsOf("worker"),
          { concurrency: 2, labels: [], drainMs: 5_000, leaseMs: 2_000, started: resolve, ...options },
          abort.signal,
        );
        end.catch(reject);
      });
      const stop = async (): Promise<void> => {
        abort.abort();
        await end;
      };
      closing.push(stop);
      return { ...started, stop };
    },
    async closeMembers() {
      await Promise.all(closing.splice(0).map(async (close) => await close()));
      await database.query("delete from acp_skills.runs");
    },
    async close() {
      await Promise.all(closing.map(async (close) => await close()));
      await database.close();
      postgres.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
