import { randomUUID } from "node:crypto";
import { chmodSync, constants, linkSync, lstatSync, mkdirSync, renameSync } from "node:fs";
import { chmod, copyFile, link, mkdir, readdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attempt, systemCode } from "../../../base/failures/system-error.ts";
import type { Log } from "../../../base/log.ts";
import { makeTemporary } from "../../../base/processes/temporary-directory.ts";
import { isAbandoned, ownedName } from "../../../base/processes/live-process.ts";
import { runProgram } from "../../../base/processes/spawn-process.ts";
import { isSkillsError, SkillsError } from "../../../base/errors.ts";
import type { Python } from "../find.ts";
import { ownFiles } from "./own-files.ts";
import { everyoneMayEnter, everyoneMayPass, removeTree } from "./private-directory.ts";

/** The directory of this process for all its sandboxes; each sandbox gets a directory inside. */
export interface HostDirectory {
  readonly path: string;
  /** The Python files that run inside sandboxes, compiled. */
  readonly inside: string;
}

/** The prefix of the name of every host directory. */
export const hostDirectoryPrefix = "acp-skills-run-";

const compile =
  "import sys, os, py_compile\n" +
  "for name in os.listdir(sys.argv[1]):\n" +
  "    if name.endswith('.py'):\n" +
  "        py_compile.compile(os.path.join(sys.argv[1], name), doraise=True,\n" +
  "                           invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)\n";

/** Creates a directory that `sweepLeftovers` of a later process removes if this one is killed. */
export function makeOwnedDirectory(temporaryDirectory: string): string {
  const path = makeTemporary(temporaryDirectory, "run");
  // Can be entered but not listed: the directories in it belong to other users.
  chmodSync(path, 0o711);
  return path;
}

/** Creates a host directory. Throws `SANDBOX_UNAVAILABLE` if it cannot be created. */
export async function makeHostDirectory(python: Python, temporaryDirectory: string): Promise<HostDirectory> {
  let path: string | undefined;
  try {
    path = makeOwnedDirectory(temporaryDirectory);
    const inside = join(path, "inside");
    await copyInside(inside);
    // Compiled from files of acp-skills; sandboxes only read the result.
    await runProgram(python.executable, ["-I", "-S", "-c", compile, inside], { env: {}, cwd: "/" });
    return { path, inside };
  } catch (error) {
    if (path !== undefined) await removeTree(path);
    if (isSkillsError(error)) throw error;
    throw new SkillsError("SANDBOX_UNAVAILABLE", "Cannot create a private directory for sandboxes.", { cause: error });
  }
}

/** The directory for sandboxes: the given one, or `/tmp` if only root can enter that. Sandboxes that root starts run as other users. */
export function whereSandboxesReach(temporaryDirectory = tmpdir()): string {
  return process.getuid?.() !== 0 || everyoneMayPass(temporaryDirectory) ? temporaryDirectory : "/tmp";
}

/** Copies the Python files of all folders of `inside/` into one directory, where they import each other by name. */
async function copyInside(target: string): Promise<void> {
  mkdirSync(target);
  chmodSync(target, 0o755);
  for (const room of await readdir(ownFiles.inside)) {
    for (const name of await readdir(join(ownFiles.inside, room))) {
      if (!name.endsWith(".py")) continue;
      await copyFile(join(ownFiles.inside, room, name), join(target, name), constants.COPYFILE_EXCL);
      chmodSync(join(target, name), 0o444);
    }
  }
}

/**
 * Returns a function that finds a path at which the sandbox's user can read installed packages. If root starts sandboxes, that may be a
 * copy: made once per process, of hard links where possible.
 */
export function showPackages(host: HostDirectory): (packages: string) => Promise<string> {
  const shown = new Map<string, Promise<string>>();
  return (packages) => {
    const showing = shown.get(packages) ?? showAt(join(host.path, `packages-${randomUUID()}`), packages);
    shown.set(packages, showing);
    showing.catch(() => shown.delete(packages)); // Retried by the next run.
    return showing;
  };
}

/** A path at which the sandbox's user can read Node; `undefined` if only root can read it and it is on another file system. */
export function showNode(host: HostDirectory): string | undefined {
  const node = process.execPath;
  if (isReadable(node)) return node;
  const shown = join(host.path, "node");
  return attempt(() => {
    linkSync(node, shown);
    return shown;
  }, undefined);
}

/** A path at which the sandbox's user can read a file or directory: `path` itself, or a copy at `target`. */
export async function showAt(target: string, path: string): Promise<string> {
  if (isReadable(path)) return path;
  await ((await stat(path)).isDirectory() ? linkTree : linkFile)(path, target);
  return target;
}

function isReadable(path: string): boolean {
  return process.getuid?.() !== 0 || everyoneMayEnter(path);
}

/** Copies an installed tree. It has only directories and files, which every user may read. */
async function linkTree(source: string, target: string): Promise<void> {
  await mkdir(target);
  await chmod(target, 0o755);
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.isDirectory()) await linkTree(from, to);
    else await linkFile(from, to);
  }
}

async function linkFile(from: string, to: string): Promise<void> {
  await link(from, to).catch(() => copyFile(from, to));
}

/** Removes the host directories of killed processes of this user. Does not throw. */
export async function sweepLeftovers(log: Log, temporaryDirectory = tmpdir()): Promise<void> {
  const names = await readdir(temporaryDirectory).catch(() => []); // Not readable: nothing to remove.
  for (const name of names) {
    const path = join(temporaryDirectory, name);
    if (!name.startsWith(hostDirectoryPrefix)) continue;
    // A process of another container is invisible here, and may use its directory for any time.
    if (!isAbandoned(name.slice(hostDirectoryPrefix.length), () => Infinity, 0) || !isOwnDirectory(path)) continue;
    try {
      // Only one of several concurrent sweeps succeeds.
      const claimed = join(temporaryDirectory, hostDirectoryPrefix + ownedName());
      renameSync(path, claimed);
      await removeTree(claimed);
      log("info", `Removed files of an earlier process: ${path}`);
    } catch (error) {
      if (systemCode(error) === "ENOENT") continue;
      log("warning", `Cannot remove files of an earlier process in ${path}: ${String(error)}`);
    }
  }
}

function isOwnDirectory(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && (process.getuid === undefined || found.uid === process.getuid());
}
