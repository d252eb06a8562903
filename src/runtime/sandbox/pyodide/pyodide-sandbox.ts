import { chmodSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { chmod, copyFile, lstat, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { createHash, randomUUID } from "node:crypto";
import { askProgram } from "../../../base/processes/spawn-process.ts";
import { SkillsError } from "../../../base/errors.ts";
import { makeOwnedDirectory, showAt } from "../directory/host-directory.ts";
import { ownFiles } from "../directory/own-files.ts";
import { chooseUser, removeTree } from "../directory/private-directory.ts";
import { type TierOptions, beyondPython, closableSandbox, lacking, openWarmPool } from "../drive/sandbox-life.ts";
import type { RunEnd, RunHost, Sandbox, SandboxRun } from "../../sandbox.ts";
import { drivePyodideRun, sandboxFilesOf } from "./drive-pyodide-run.ts";
import { type PyodideProcess, denoCommand, startPyodide } from "./pyodide-process.ts";
import { makeOwnDirectories } from "../../../base/paths/directories.ts";
import type { Frame } from "../frames.ts";

/** The paths of Deno and Pyodide, which the pyodide tier consists of. */
export interface DenoFiles {
  /** The executable, not npm's wrapper script. */
  readonly deno: string;
  /** The directory of the package `pyodide`. */
  readonly pyodide: string;
}

/**
 * Without a cache directory, each process compiles its own standard library. Each prepared child takes about 190 MB, 60 of them shared.
 */
export interface PyodideSandboxOptions extends Omit<TierOptions, "python"> {
  readonly files: DenoFiles;
}

interface Waiting {
  readonly child: PyodideProcess;
  alive: boolean;
}

/**
 * Opens the pyodide tier: Python compiled to WebAssembly, in a Deno process without permissions. Its files are in memory; it has no
 * processes, no Python threads and no network access. Throws `SANDBOX_UNAVAILABLE` if Deno does not run.
 */
export async function openPyodideSandbox(options: PyodideSandboxOptions): Promise<Sandbox> {
  const { clock, log } = options;
  const directory = makeDirectory(options.temporaryDirectory ?? tmpdir());
  const { reached, versions } = await reachFiles(options.files, directory.path).catch(async (error: unknown) => {
    await removeTree(directory.path);
    throw error;
  });
  const pool = openWarmPool<Waiting>({
    ...options.pool,
    clock,
    make: start,
    isAlive: ({ alive }) => alive,
    discard: ({ child }) => child.end(),
    failed: (error) => log("warning", `Preparing a sandbox failed: ${String(error)}`),
  });
  let library: Promise<string | undefined> | undefined;

  async function start(): Promise<Waiting> {
    library ??= prepareLibrary();
    const child = await launch({ library: await library });
    const waiting = { child, alive: true };
    void child.exited.then(() => (waiting.alive = false));
    return waiting;
  }

  function launch(more: { library?: string | undefined; making?: boolean }): Promise<PyodideProcess> {
    const user = chooseUser(undefined);
    if ("refusal" in user) throw new SkillsError("SANDBOX_UNAVAILABLE", user.refusal);
    const command = denoCommand({ ...reached, nowhere: directory.nowhere, ...more });
    return startPyodide(command, directory.empty, user.id, clock);
  }

  /** Prepares the compiled library. Without it, starts are much slower. */
  async function prepareLibrary(): Promise<string | undefined> {
    try {
      const cached = await ensureLibrary(options.cacheDirectory ?? directory.path, versions, async () => {
        const child = await launch({ making: true });
        try {
          return await readLibrary(child.first);
        } finally {
          await child.end();
        }
      });
      return await show(cached);
    } catch (error) {
      const message = "The Python standard library could not be precompiled; each start takes seconds";
      log("warning", `${message}: ${String(error)}`);
      return undefined;
    }
  }

  /** Returns a path at which children can read the library: children of root run as a user who cannot read the cache. */
  async function show(library: string): Promise<string> {
    if (process.getuid?.() !== 0) return library;
    const shown = join(directory.path, "library.zip");
    await copyFile(library, shown);
    await chmod(shown, 0o444);
    return shown;
  }

  async function perform(run: SandboxRun, host: RunHost, signal: AbortSignal): Promise<RunEnd> {
    const files = sandboxFilesOf(run);
    const waiting = await pool.take();
    try {
      if (signal.aborted) return { type: "cancelled" };
      return await drivePyodideRun(waiting.child, run, files, host, signal, { clock, log });
    } finally {
      await waiting.child.end();
      pool.refill();
    }
  }

  return closableSandbox({
    tier: "pyodide",
    lacks: lacking("pyodide", "project access", "installed packages", ...beyondPython),
    refuses: () => undefined,
    run: perform,
    async close() {
      await pool.close();
      await removeTree(directory.path);
    },
  });
}

/** The paths at which children can read the tier's files, copied to `directory` if necessary: children of root run as another user. */
async function reachFiles({ deno, pyodide }: DenoFiles, directory: string) {
  const inside = realpathSync(ownFiles.inside);
  const reached = {
    deno: await showAt(join(directory, "deno"), deno),
    pyodide: await showAt(join(directory, "pyodide"), pyodide),
    inside: await showAt(join(directory, "inside"), inside),
  };
  const { version } = JSON.parse(readFileSync(join(reached.pyodide, "package.json"), "utf8")) as { version: string };
  return { reached, versions: { deno: await versionOf(reached.deno), pyodide: version, inside } };
}

async function versionOf(deno: string): Promise<string> {
  const version = await askProgram(deno, ["--version"], { env: { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" } });
  if (version === undefined) throw new SkillsError("SANDBOX_UNAVAILABLE", `${deno} does not run.`);
  return version.trim();
}

/** Creates what all children share, and cannot write: an empty working directory, and a regular file (see `DenoChild.nowhere`). */
function makeDirectory(parent: string): { path: string; empty: string; nowhere: string } {
  const path = realpathSync(makeOwnedDirectory(parent));
  const directory = { path, empty: join(path, "empty"), nowhere: join(path, "nowhere") };
  mkdirSync(directory.empty);
  // Children of root run as another user.
  chmodSync(directory.empty, 0o755);
  writeFileSync(directory.nowhere, "");
  return directory;
}

/** The key of a compiled library, which is reused for the same values. */
export interface LibraryKey {
  readonly deno: string;
  readonly pyodide: string;
  /** The directory of acp-skills' files, including the one that compiles the library. */
  readonly inside: string;
}

const digestBytes = 32;
const maxLibraryBytes = 256 * 1024 * 1024;

/**
 * The path of the compiled standard library in `directory`; created by `make` if it is absent or damaged. The file ends with a digest of
 * its content and key. A clean child creates it, never a run. A file that another user could have written is not used.
 */
export async function ensureLibrary(directory: string, key: LibraryKey, make: () => Promise<Buffer>): Promise<string> {
  const { deno, pyodide, inside } = key;
  const compiler = digest(await readFile(join(inside, "deno/pyodide_library.py"))).toString("hex");
  const origin = Buffer.from(JSON.stringify([deno, pyodide, compiler]));
  const file = join(directory, `pyodide-${digest(origin).toString("hex").slice(0, 16)}.zip`);
  if (await isWhole(file, origin)) return file;
  makeOwnDirectories(directory, 0o700);
  const bytes = await make();
  const unfinished = `${file}.${randomUUID()}`;
  try {
    await writeFile(unfinished, Buffer.concat([bytes, digest(origin, bytes)]), { mode: 0o600, flag: "wx" });
    await rename(unfinished, file);
  } finally {
    await rm(unfinished, { force: true });
  }
  return file;
}

/** Reads the frame with which a child sends the library. */
async function readLibrary({ header, size, payload }: Frame): Promise<Buffer> {
  if (header.type !== "library" || size === 0 || size > maxLibraryBytes)
    throw new Error("Deno did not send a compiled library.");
  return await buffer(payload);
}

async function isWhole(file: string, origin: Buffer): Promise<boolean> {
  try {
    const found = await lstat(file);
    if (!found.isFile() || found.size > maxLibraryBytes || found.size <= digestBytes) return false;
    const ours = process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o022) === 0);
    if (!ours) return false;
    const content = await readFile(file);
    const bytes = content.subarray(0, -digestBytes);
    return digest(origin, bytes).equals(content.subarray(-digestBytes));
  } catch {
    return false; // Absent.
  }
}

function digest(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
}
