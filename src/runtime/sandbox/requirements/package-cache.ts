import { createHash, hash, randomUUID } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { chmod, lstat, mkdtemp, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { systemCode } from "../../../base/failures/system-error.ts";
import { makeOwnDirectories, ownershipFault } from "../../../base/paths/directories.ts";
import { pidExists } from "../../../base/processes/live-process.ts";
import { askProgram } from "../../../base/processes/spawn-process.ts";
import { SkillsError, isSkillsError } from "../../../base/errors.ts";
import { removeTree } from "../directory/private-directory.ts";

/** The requirements of a skill, and the interpreter and the cache of its packages. */
export interface PackageQuery {
  /** The bytes of a skill's `requirements.txt`. */
  readonly requirements: Uint8Array;
  /** The interpreter that will import the packages. */
  readonly python: string;
  /** The cache of installed packages: an absolute path that only this user can write. */
  readonly cache: string;
}

/** The packages of a key, if installed. Throws SKILL_NOT_READY if another user could have written them. */
export async function findRequirements(cache: string, key: string): Promise<string | undefined> {
  if (!/^[0-9a-f]{64}$/.test(key)) return undefined;
  const directory = path.join(cache, key);
  // Not installed, or not readable: installing reports why.
  if (!(await stat(directory).catch(() => undefined))?.isDirectory()) return undefined;
  const fault = ownershipFault(cache);
  if (fault !== undefined) throw notReady(`The installed packages in ${cache} are not used: ${fault}.`);
  return directory;
}

/**
 * The packages that were installed for this skill, or for the same requirements from the user's package indexes. Packages from a directory
 * of wheels are used only by their own skill.
 */
export async function findPackagesOf(
  skill: string,
  { requirements, python, cache }: PackageQuery,
): Promise<string | undefined> {
  if (!existsSync(cache)) return undefined;
  // The message has no path, because models read it.
  if (ownershipFault(cache) !== undefined)
    throw notReady(
      "The installed packages are not used because another user can modify them. `acp-skills install` names the directory.",
    );
  const build = await readPythonBuild(python);
  const noted = await readFile(noteFile(cache, skill, requirements, build), "utf8").catch(() => undefined);
  const own = noted === undefined ? undefined : await findRequirements(cache, noted);
  return own ?? (await findRequirements(cache, toRequirementsKey(requirements, build, "index")));
}

/** Records that these packages belong to a skill. Atomic, because other processes may read the record. */
export async function noteRequirements(
  skill: string,
  { requirements, cache }: PackageQuery,
  build: PythonBuild,
  key: string,
): Promise<void> {
  const file = noteFile(cache, skill, requirements, build);
  const unfinished = `${file}.${randomUUID()}`;
  await writeFile(unfinished, key, { mode: 0o600, flag: "wx" });
  await rename(unfinished, file);
}

function noteFile(cache: string, skill: string, requirements: Uint8Array, { version, abi, platform }: PythonBuild) {
  return path.join(cache, `for-${digestOf("note", skill, hash("sha256", requirements), version, abi, platform)}`);
}

/** The key of a requirements file: equal for the same bytes, interpreter build and package source. */
export function toRequirementsKey(
  requirements: Uint8Array,
  { version, abi, platform }: PythonBuild,
  source: PackageSource,
): string {
  return digestOf(2, hash("sha256", requirements), version, abi, platform, source);
}

function digestOf(...parts: readonly (string | number)[]): string {
  return hash("sha256", JSON.stringify(parts));
}

/** The source of packages: the user's own indexes, or exactly these wheels. */
export type PackageSource = "index" | `wheels:${string}`;

/** Identifies a directory of wheels by its content, not by its path. */
export async function readWheelSource(directory: string): Promise<PackageSource> {
  const digest = createHash("sha256");
  for (const name of (await readdir(directory)).sort()) {
    const file = path.join(directory, name);
    if (!(await stat(file)).isFile()) continue;
    const content = createHash("sha256");
    for await (const chunk of createReadStream(file)) content.update(chunk as Buffer);
    digest.update(JSON.stringify([name, content.digest("hex")]));
  }
  return `wheels:${digest.digest("hex")}`;
}

/** Identifies interpreters that can share installed packages. */
export interface PythonBuild {
  readonly version: string;
  /** Tags of implementation, platform and C library, such as `cpython-311-x86_64-linux-gnu`. */
  readonly abi: string;
  readonly platform: string;
}

const question = [
  "import json, sys, sysconfig",
  "abi = sysconfig.get_config_var('SOABI') or sys.implementation.cache_tag",
  "print(json.dumps([sys.version.split()[0], abi, sysconfig.get_platform()]))",
].join("\n");
const patienceMs = 10_000;

/** Queries an interpreter. Throws SANDBOX_UNAVAILABLE if it does not run. */
export async function readPythonBuild(python: string): Promise<PythonBuild> {
  const stdout = await askProgram(python, ["-I", "-S", "-c", question], { timeout: patienceMs });
  if (stdout === undefined) {
    const message = `The Python interpreter ${JSON.stringify(python)} does not run.`;
    throw new SkillsError("SANDBOX_UNAVAILABLE", message, { facts: { python } });
  }
  const [version = "", abi = "", platform = ""] = JSON.parse(stdout) as string[];
  return { version, abi, platform };
}

const stagingPrefix = ".staging-";

/** Creates a directory for an installation. Removes those that killed processes left behind. */
export async function makeStaging(cache: string): Promise<string> {
  try {
    makeOwnDirectories(cache, 0o755);
    await removeAbandoned(cache);
    return await mkdtemp(path.join(cache, `${stagingPrefix}${process.pid}-`));
  } catch (error) {
    if (isSkillsError(error)) throw notReady(error.message);
    throw notReady(`Cannot write to the package cache ${cache}: ${String(error)}.`);
  }
}

/**
 * Makes an installed tree readable for the user of the sandbox, regardless of the umask. Removes everything that is neither a directory nor
 * a regular file, and permissions other than reading and executing.
 */
async function finishTree(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const name of await readdir(directory)) {
    const entry = path.join(directory, name);
    const stats = await lstat(entry);
    if (stats.isDirectory()) await finishTree(entry);
    else if (stats.isFile()) await chmod(entry, (stats.mode & 0o100) === 0 ? 0o644 : 0o755);
    else await rm(entry);
  }
}

/** Moves installed packages to the directory of their key. If another process was faster, its directory is used. */
export async function moveIntoCache(target: string, cache: string, key: string): Promise<string> {
  await finishTree(target);
  const directory = path.join(cache, key);
  try {
    await rename(target, directory);
  } catch (error) {
    if ((await findRequirements(cache, key)) === undefined) throw error;
  }
  return directory;
}

/**
 * Removes staging directories of processes that were killed during an installation. Renames them first: if such a process is alive in
 * another PID namespace, it finds no partial directory to use.
 */
async function removeAbandoned(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const owner = name.startsWith(stagingPrefix) ? Number.parseInt(name.slice(stagingPrefix.length), 10) : NaN;
    if (Number.isNaN(owner) || pidExists(owner)) continue;
    const ours = path.join(cache, `${stagingPrefix}${process.pid}-${randomUUID()}`);
    try {
      await rename(path.join(cache, name), ours);
    } catch (error) {
      if (systemCode(error) === "ENOENT") continue; // Another process removes it.
      throw error;
    }
    await removeTree(ours);
  }
}

export function notReady(message: string, facts: Record<string, unknown> = {}): SkillsError {
  return new SkillsError("SKILL_NOT_READY", message, { facts });
}

/** Names that cannot end a line of the hashed text. */
const isPlain = /^[\w.+!~-]+$/;

/**
 * Identifies installed packages: `sha256:…` of the RECORD of each one, in which its installer lists every file with its digest. Packages
 * installed again from other files have another digest. Every process that can write to the cache can forge it.
 */
export async function digestOfPackages(directory: string): Promise<string> {
  const digest = createHash("sha256");
  for (const name of (await readdir(directory)).filter((entry) => entry.endsWith(".dist-info")).sort()) {
    const record = await readFile(path.join(directory, name, "RECORD")).catch(() => "");
    digest.update(`${hash("sha256", record)}  ${isPlain.test(name) ? name : JSON.stringify(name)}\n`);
  }
  return `sha256:${digest.digest("hex")}`;
}
