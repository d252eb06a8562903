import {
  chmodSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { copyFile, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isSkillsError, SkillsError } from "../../errors.ts";
import { identifyProcess } from "../../base/processes/live-process.ts";
import { runProgram } from "../../base/processes/spawn-process.ts";
import type { Python } from "../find/find-python.ts";
import { ownFiles } from "./own-files.ts";
import { removeTree } from "./remove-tree.ts";

/** Files of this process for all its sandboxes; each sandbox gets a directory in it. */
export interface HostDirectory {
  readonly path: string;
  /** The Python files that run inside sandboxes, compiled. */
  readonly inside: string;
}

/** Begins the name of every such directory. */
export const hostDirectoryPrefix = "acp-skills-run-";
export const ownerFile = "owner.json";

const compile =
  "import sys, os, py_compile\n" +
  "for name in os.listdir(sys.argv[1]):\n" +
  "    if name.endswith('.py'):\n" +
  "        py_compile.compile(os.path.join(sys.argv[1], name), doraise=True,\n" +
  "                           invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)\n";

/** Throws `SANDBOX_UNAVAILABLE` if it cannot be created. */
export async function makeHostDirectory(python: Python, temporaryDirectory: string): Promise<HostDirectory> {
  let path: string | undefined;
  try {
    path = mkdtempSync(join(temporaryDirectory, hostDirectoryPrefix));
    // Can be entered but not listed: each directory in it belongs to another user.
    chmodSync(path, 0o711);
    writeFileSync(join(path, ownerFile), JSON.stringify(identifyProcess()), { mode: 0o600 });
    const inside = join(path, "inside");
    await copyInside(inside);
    // Compiled from our own files; sandboxes only read the result.
    await runProgram(python.executable, ["-I", "-S", "-c", compile, inside], { env: {}, cwd: "/" });
    return { path, inside };
  } catch (error) {
    if (path !== undefined) await removeTree(path);
    if (isSkillsError(error)) throw error;
    throw new SkillsError("SANDBOX_UNAVAILABLE", "Cannot create a private directory for sandboxes.", { cause: error });
  }
}

/** This directory, unless only root can enter it: started by root, sandboxes run as other users. */
export function whereSandboxesReach(temporaryDirectory = tmpdir()): string {
  if (process.getuid?.() !== 0) return temporaryDirectory;
  for (let at = temporaryDirectory; ; at = dirname(at)) {
    const found = statSync(at, { throwIfNoEntry: false });
    if (found !== undefined && (found.mode & 0o001) === 0) return "/tmp";
    if (at === dirname(at)) return temporaryDirectory;
  }
}

/** Removes the owner file last, so that a later process still recognises the rest. */
export async function removeHostDirectory(path: string): Promise<void> {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.name === ownerFile) continue;
    if (entry.isDirectory()) await removeTree(join(path, entry.name));
    else unlinkSync(join(path, entry.name));
  }
  await removeTree(path);
}

/** Copies the Python files of all rooms of `inside/` into one directory, where they import each other by name. */
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
