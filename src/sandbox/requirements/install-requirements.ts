import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { stat, mkdir, mkdtemp, readdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { systemClock } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import { isSkillsError, SkillsError } from "../../errors.ts";
import { pidExists } from "../../base/processes/live-process.ts";
import type { Log } from "../../base/log.ts";
import { makeOwnDirectories, ownershipFault } from "../../base/paths/make-directories.ts";
import { removeTree } from "../directory/private-directory.ts";
import { explainFailure } from "./explain-failure.ts";
import { toInstallCommand } from "./installer.ts";
import type { InstallCommand, InstallerName } from "./installer.ts";
import { parseRequirements } from "./parse-requirements.ts";
import { readPythonBuild, readWheelSource, toNoteName, toRequirementsKey } from "./requirements-key.ts";
import { settleTree } from "./settle-tree.ts";
import { usedBytes } from "./used-bytes.ts";

export interface RequirementsOptions {
  /** The bytes of a skill's `requirements.txt`. */
  readonly requirements: Uint8Array;
  /** The interpreter that will import what is installed. */
  readonly python: string;
  /** The cache of installed packages: an absolute path that only this user can write. */
  readonly cache: string;
  readonly log: Log;
  /** `uv` if it is installed, otherwise `pip`. */
  readonly tool?: InstallerName;
  /** Install only from this directory of wheels. */
  readonly wheels?: string;
  /** The directory of the skill to install for: its runs use these packages from now on. */
  readonly skill?: string;
  /** Limit for the unpacked packages and the installer's temporary files. Default: 512 MiB. */
  readonly maxBytes?: number;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

const defaultMaxBytes = 512 * 1024 * 1024;

/** To be mounted as `SandboxRun.packages`. */
export interface InstalledRequirements {
  readonly directory: string;
  readonly key: string;
}

/**
 * Installs a skill's requirements if they are not installed yet. Atomic, even if other processes install the same or this one is
 * killed. Throws SKILL_NOT_READY if they cannot be installed, and the reason of `signal` when that aborts.
 */
export async function installRequirements(options: RequirementsOptions): Promise<InstalledRequirements> {
  const { requirements, python, cache, wheels, skill, signal } = options;
  signal?.throwIfAborted();
  const { requirements: lines, faults } = parseRequirements(requirements);
  if (faults.length > 0) {
    const shown = faults.slice(0, 5).map(({ line, why }) => `line ${line}: ${why}`);
    throw notReady(`requirements.txt is invalid: ${shown.join("; ")}.`, { faults });
  }
  const build = await readPythonBuild(python);
  const key = toRequirementsKey(requirements, build, wheels === undefined ? "index" : await readWheelSource(wheels));
  const directory = (await findRequirements(cache, key)) ?? (await installAnew(lines, key, options));
  if (skill !== undefined) await takeNote(path.join(cache, noteName(skill, requirements, build)), key);
  return { directory, key };
}

async function installAnew(lines: readonly string[], key: string, options: RequirementsOptions): Promise<string> {
  const { cache } = options;
  const staging = await makeStaging(cache);
  try {
    const target = path.join(staging, "packages");
    await mkdir(target);
    if (lines.length > 0) await install(lines, { ...options, staging, target });
    await settleTree(target);
    return await moveIntoPlace(target, cache, key);
  } finally {
    await removeTree(staging);
  }
}

/** The packages of a key, if installed. Throws SKILL_NOT_READY if another user could have put them there. */
export async function findRequirements(cache: string, key: string): Promise<string | undefined> {
  if (!isKey(key)) return undefined;
  const directory = path.join(cache, key);
  try {
    if (!(await stat(directory)).isDirectory()) return undefined;
  } catch {
    return undefined; // Not installed or not readable: installing reports why.
  }
  const fault = ownershipFault(cache);
  if (fault !== undefined) throw notReady(`The installed packages in ${cache} are not used: ${fault}.`);
  return directory;
}

/**
 * The packages that were installed for this skill, or for the same requirements from the user's package indexes. Packages from a
 * directory of wheels are used only by the skill they were installed for.
 */
export async function findPackagesOf(
  skill: string,
  { requirements, python, cache }: Pick<RequirementsOptions, "requirements" | "python" | "cache">,
): Promise<string | undefined> {
  if (!existsSync(cache)) return undefined;
  // Without the path: models read this message.
  if (ownershipFault(cache) !== undefined)
    throw notReady(
      "The installed packages are not used because another user can modify them. `acp-skills install` names the directory.",
    );
  const build = await readPythonBuild(python);
  const noted = await readFile(path.join(cache, noteName(skill, requirements, build)), "utf8").catch(() => undefined);
  const own = noted === undefined ? undefined : await findRequirements(cache, noted);
  return own ?? (await findRequirements(cache, toRequirementsKey(requirements, build, "index")));
}

function isKey(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

function noteName(...of: Parameters<typeof toNoteName>): string {
  return `for-${toNoteName(...of)}`;
}

/** Atomic: other processes may read it. */
async function takeNote(file: string, key: string): Promise<void> {
  const unfinished = `${file}.${randomUUID()}`;
  await writeFile(unfinished, key, { mode: 0o600, flag: "wx" });
  await rename(unfinished, file);
}

const stagingPrefix = ".staging-";

async function makeStaging(cache: string): Promise<string> {
  try {
    makeOwnDirectories(cache, 0o755);
    await removeAbandoned(cache);
    return await mkdtemp(path.join(cache, `${stagingPrefix}${process.pid}-`));
  } catch (error) {
    if (isSkillsError(error)) throw notReady(error.message);
    throw notReady(`Cannot write to the package cache ${cache}: ${String(error)}.`);
  }
}

async function install(
  lines: readonly string[],
  options: RequirementsOptions & { readonly staging: string; readonly target: string },
): Promise<void> {
  const { staging, target, python, wheels, tool, log, clock = systemClock, maxBytes = defaultMaxBytes } = options;
  const requirementsFile = path.join(staging, "requirements.txt");
  await writeFile(requirementsFile, `${lines.join("\n")}\n`);
  const { signal = never } = options;
  const plan = { python, requirementsFile, target, scratch: staging, wheels, signal };
  const command = await toInstallCommand(plan, tool);
  signal.throwIfAborted();
  if (command === undefined) {
    throw notReady(
      "Installing requirements needs uv 0.11.15 or later, or pip, and neither was found. Install uv, python3-venv or python3-pip.",
    );
  }
  log("info", `Installing ${lines.length} requirements with ${path.basename(command.file)}.`);
  const watch = watchSize(staging, maxBytes, clock);
  const { succeeded, output } = await run(command, staging, AbortSignal.any([signal, watch.tooLarge]));
  watch.stop();
  signal.throwIfAborted();
  if (watch.tooLarge.aborted || (await usedBytes(staging, maxBytes)) > maxBytes) {
    const shown = `${Math.floor(maxBytes / 1024 / 1024)} MiB`;
    throw notReady(`The unpacked packages exceed ${shown}; nothing was installed.`);
  }
  if (!succeeded)
    throw notReady(`Installing the requirements failed: ${explainFailure(output)}`, { requirements: lines });
}

const never = new AbortController().signal;
const lookEveryMs = 250;

/** Wheels are compressed: the installer is killed when it has written too much. */
function watchSize(directory: string, maxBytes: number, clock: Clock): { tooLarge: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  let cancel = clock.after(lookEveryMs, look);
  let isOver = false;
  function look(): void {
    void usedBytes(directory, maxBytes).then((used) => {
      if (used > maxBytes) controller.abort();
      else if (!isOver) cancel = clock.after(lookEveryMs, look);
    });
  }
  return {
    tooLarge: controller.signal,
    stop() {
      isOver = true;
      cancel();
    },
  };
}

async function run(
  command: InstallCommand,
  directory: string,
  signal: AbortSignal,
): Promise<{ readonly succeeded: boolean; readonly output: string }> {
  const { execa } = await import("execa");
  const ended = await execa(command.file, command.arguments, {
    cwd: directory,
    env: { ...command.environment },
    stdin: "ignore",
    all: true,
    reject: false,
    maxBuffer: 8 * 1024 * 1024,
    forceKillAfterDelay: 2000,
    windowsHide: true,
    cancelSignal: signal,
  });
  return { succeeded: !ended.failed, output: ended.all };
}

/** If another process was faster, its directory is used. */
async function moveIntoPlace(target: string, cache: string, key: string): Promise<string> {
  const directory = path.join(cache, key);
  try {
    await rename(target, directory);
  } catch (error) {
    if ((await findRequirements(cache, key)) === undefined) throw error;
  }
  return directory;
}

/**
 * Removes staging directories of processes that were killed during an installation. Renames them first: if such a process is alive
 * in another PID namespace, it finds nothing to move into place instead of a partial directory.
 */
async function removeAbandoned(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const owner = name.startsWith(stagingPrefix) ? Number.parseInt(name.slice(stagingPrefix.length), 10) : NaN;
    if (Number.isNaN(owner) || pidExists(owner)) continue;
    const ours = path.join(cache, `${stagingPrefix}${process.pid}-${randomUUID()}`);
    try {
      await rename(path.join(cache, name), ours);
    } catch (error) {
      if (isAbsence(error)) continue; // Another process removes it.
      throw error;
    }
    await removeTree(ours);
  }
}

function isAbsence(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

function notReady(message: string, facts: Record<string, unknown> = {}): SkillsError {
  return new SkillsError("SKILL_NOT_READY", message, { facts });
}
