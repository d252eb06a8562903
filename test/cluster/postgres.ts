import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Database } from "../../src/cluster/database.ts";
import { migrate, openDatabase, parseClusterUrl } from "../../src/cluster/database.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemClock } from "../../src/base/clock.ts";

/** A PostgreSQL server of this process, with an empty, migrated database for each test that wants one. */
export interface PostgresServer {
  readonly port: number;
  /** The URL of a new database, with our tables. */
  newDatabase(): Promise<string>;
  /** Ends every process of it at once, as a power failure does. */
  kill(): void;
  /** Starts it again after `kill`, on the same port. */
  start(): Promise<void>;
  stop(): void;
}

/** Where Debian and others install it; the newest first. */
function findServer(): string | undefined {
  const versions = ["/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt"].flatMap((place) =>
    existsSync(place) ? readdirSync(place).map((name) => path.join(place, name, "bin")) : [],
  );
  const places = [
    ...versions.toSorted().reverse(),
    "/usr/local/pgsql/bin",
    ...(process.env["PATH"] ?? "").split(path.delimiter),
  ];
  return places.find((place) => existsSync(path.join(place, "initdb")) && existsSync(path.join(place, "postgres")));
}

const binaries = findServer();

/** Why the tests that need a server cannot run here; undefined if they can. In the gate, that is a failure. */
export function postgresFault(): string | undefined {
  if (binaries !== undefined) return undefined;
  const fault = "PostgreSQL is not installed";
  if (process.env["ACP_SKILLS_REQUIRE_POSTGRES"] === "1") throw new Error(fault);
  return fault;
}

/** The server refuses to run as root. */
const ordinary = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

export async function startPostgres(within = tmpdir()): Promise<PostgresServer> {
  if (binaries === undefined) throw new Error("PostgreSQL is not installed.");
  const directory = mkdtempSync(path.join(within, "acp-skills-postgres-"));
  if (ordinary.uid !== undefined) chownSync(directory, ordinary.uid, ordinary.gid);
  const data = path.join(directory, "data");
  const options = [
    "-D",
    data,
    "-U",
    "acp",
    "-A",
    "trust",
    "-E",
    "UTF8",
    "--locale=C",
    "--no-instructions",
    "--no-sync",
  ];
  const made = spawnSync(path.join(binaries, "initdb"), options, { cwd: directory, encoding: "utf8", ...ordinary });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const port = await freePort();
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    const settings = { port, listen_addresses: "127.0.0.1", unix_socket_directories: directory, max_connections: 300 };
    const words = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    for (let attempt = 0; ; attempt++) {
      // After a kill, it refuses to start for as long as one of its old processes is there.
      if (server === undefined || server.exitCode !== null || server.signalCode !== null) {
        server = spawn(path.join(binaries ?? "", "postgres"), ["-D", data, ...words], {
          cwd: directory,
          stdio: "ignore",
          ...ordinary,
        });
      }
      const database = await openDatabase(urlOf("postgres"), { log: silentLog, clock: systemClock });
      try {
        await database.query("select 1");
        return;
      } catch (error) {
        if (attempt > 300) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      } finally {
        await database.close();
      }
    }
  }
  const urlOf = (name: string) => parseClusterUrl(`postgres://acp@127.0.0.1:${port}/${name}`);
  const kill = (): void => {
    server?.kill("SIGKILL");
    server = undefined;
  };

  await start();
  const postgres: Database = await openDatabase(urlOf("postgres"), {
    log: silentLog,
    clock: systemClock,
    connections: 1,
  });
  await postgres.query("create database template_acp");
  const template = await openDatabase(urlOf("template_acp"), { log: silentLog, clock: systemClock, connections: 1 });
  await migrate(template);
  await template.close();
  return {
    port,
    async newDatabase() {
      const name = `test_${randomBytes(6).toString("hex")}`;
      await postgres.query(`create database ${name} template template_acp`);
      return `postgres://acp@127.0.0.1:${port}/${name}`;
    },
    kill,
    start,
    stop() {
      void postgres.close();
      kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("There is no free port.");
  return address.port;
}
