import { randomUUID } from "node:crypto";
import { stat, mkdir, mkdtemp, readdir, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { SkillsError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { makeDirectories } from "../../make-directories.ts";
import { removeTree } from "../remove-tree.ts";
import { explainFailure } from "./explain-failure.ts";
import { toInstallCommand } from "./installer.ts";
import type { InstallCommand, InstallerName } from "./installer.ts";
import { parseRequirements } from "./parse-requirements.ts";
import { readPythonBuild, toRequirementsKey } from "./requirements-key.ts";
import { settleTree } from "./settle-tree.ts";

export interface RequirementsOptions {
  /** The bytes of a skill's `requirements.txt`. */
  readonly requirements: Uint8Array;
  /** The interpreter that will import what is installed. */
  readonly python: string;
  /** Where environments are kept: absolute, ours alone. */
  readonly cache: string;
  readonly log: Log;
  /** `uv` where it is installed, else `pip`. */
  readonly tool?: InstallerName;
  /** A directory of wheels to install from, and from nowhere else. */
  readonly wheels?: string;
  readonly signal?: AbortSignal;
}

/** Packages to be mounted as `SandboxRun.packages`. */
export interface InstalledRequirements {
  readonly directory: string;
  readonly key: string;
}

/**
 * Installs a skill's requirements, unless that is done already. The directory appears whole or not at all, also when others
 * install the same or this process is killed. Throws SKILL_NOT_READY with a sentence that names what could not be installed,
 * and the reason of `signal` when that aborts.
 */
export async function installRequirements(options: RequirementsOptions): Promise<InstalledRequirements> {
  const { requirements, python, cache, signal } = options;
  signal?.throwIfAborted();
  const { requirements: lines, faults } = parseRequirements(requirements);
  if (faults.length > 0) {
    const shown = faults.slice(0, 5).map(({ line, why }) => `line ${line}: ${why}`);
    throw notReady(`requirements.txt cannot be used: ${shown.join("; ")}.`, { faults });
  }
  const key = toRequirementsKey(requirements, await readPythonBuild(python));
  const done = await findRequirements(cache, key);
  if (done !== undefined) return { directory: done, key };
  const staging = await makeStaging(cache);
  try {
    const target = path.join(staging, "packages");
    await mkdir(target);
    if (lines.length > 0) await install(lines, { ...options, staging, target });
    await settleTree(target);
    return { directory: await moveIntoPlace(target, cache, key), key };
  } finally {
    await removeTree(staging);
  }
}

/** The environment of a key, if it was installed. */
export async function findRequirements(cache: string, key: string): Promise<string | undefined> {
  if (!/^[0-9a-f]{64}$/.test(key)) return undefined;
  const directory = path.join(cache, key);
  try {
    return (await stat(directory)).isDirectory() ? directory : undefined;
  } catch {
    return undefined; // Not installed, or not to be had: it is installed anew, which tells why not.
  }
}

const stagingPrefix = ".staging-";

async function makeStaging(cache: string): Promise<string> {
  try {
    makeDirectories(cache, 0o755);
    await removeAbandoned(cache);
    return await mkdtemp(path.join(cache, `${stagingPrefix}${process.pid}-`));
  } catch (error) {
    throw notReady(`Packages cannot be kept in ${cache}: ${String(error)}.`);
  }
}

async function install(
  lines: readonly string[],
  options: RequirementsOptions & { readonly staging: string; readonly target: string },
): Promise<void> {
  const { staging, target, python, wheels, tool, log, signal } = options;
  const requirementsFile = path.join(staging, "requirements.txt");
  await writeFile(requirementsFile, `${lines.join("\n")}\n`);
  const command = await toInstallCommand({ python, requirementsFile, target, scratch: staging, wheels }, tool);
  if (command === undefined) {
    throw notReady(
      "Neither a recent uv nor pip can be had to install the requirements. Install uv 0.11.15 or later, or python3-venv, or python3-pip.",
    );
  }
  log("info", `Installing ${lines.length} requirements with ${path.basename(command.file)}.`);
  const { succeeded, output } = await run(command, staging, signal);
  signal?.throwIfAborted();
  if (!succeeded)
    throw notReady(`The requirements could not be installed: ${explainFailure(output)}`, { requirements: lines });
}

async function run(
  command: InstallCommand,
  directory: string,
  signal: AbortSignal | undefined,
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
    ...(signal !== undefined && { cancelSignal: signal }),
  });
  return { succeeded: !ended.failed, output: ended.all };
}

/** What is there already is the same, and complete: whoever came second uses it. */
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
 * Removes what processes left that were killed while they installed. Under another name first: should one be alive after all,
 * where we do not see it, it finds nothing to move into place, rather than half of it.
 */
async function removeAbandoned(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const owner = name.startsWith(stagingPrefix) ? Number.parseInt(name.slice(stagingPrefix.length), 10) : NaN;
    if (Number.isNaN(owner) || isAlive(owner)) continue;
    const ours = path.join(cache, `${stagingPrefix}${process.pid}-${randomUUID()}`);
    try {
      await rename(path.join(cache, name), ours);
    } catch (error) {
      if (isAbsence(error)) continue; // Someone else removes it.
      throw error;
    }
    await removeTree(ours);
  }
}

function isAbsence(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

function isAlive(owner: number): boolean {
  try {
    return process.kill(owner, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function notReady(message: string, facts: Record<string, unknown> = {}): SkillsError {
  return new SkillsError("SKILL_NOT_READY", message, { facts });
}
