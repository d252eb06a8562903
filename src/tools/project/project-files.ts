import { randomBytes } from "node:crypto";
import { constants, linkSync, lstatSync, realpathSync, renameSync, rmSync } from "node:fs";
import type { Stats } from "node:fs";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { holdDirectory, openHandleAtRealPath } from "../../base/paths/at-real-path.ts";
import { directoryReplaced, identityOf, isSameDirectory } from "../../base/paths/directory-identity.ts";
import type { DirectoryIdentity } from "../../base/paths/directory-identity.ts";

import { SkillsError } from "../../errors.ts";
import { isWithin } from "../../base/paths/is-within.ts";
import { fileTaken, notInProject, refusalOfDisk, tooLarge } from "./project-refusal.ts";
import { projectPathFault } from "./project-path.ts";

/** The files of a session's project (CONTRACT C-4.2, C-4.3). Errors name paths as the caller gave them. */
export interface ProjectFiles {
  /** Reads a regular file of at most `maxBytes`; it is opened with the first read. */
  read(path: string, maxBytes: number): AsyncIterable<Uint8Array>;
  /** Writes a file atomically. An existing file needs `overwrite`. */
  write(
    path: string,
    content: AsyncIterable<Uint8Array>,
    options: { readonly overwrite: boolean; readonly signal: AbortSignal },
  ): Promise<void>;
}

const chunkBytes = 256 * 1024;
const { O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;
const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | O_NOFOLLOW;
const createMode = 0o666;

interface ProjectLimits {
  /** The directory that the project was when the session was opened. */
  readonly identity?: DirectoryIdentity | undefined;
  /** A directory whose files are never part of the project. */
  readonly keepOut?: string | undefined;
}

/**
 * Links inside the project are followed to targets that could be named themselves. Another process may replace a path at any moment: the real
 * path of an open file is checked after opening, and files are created relative to an open directory.
 */
export function projectFiles(project: string, { identity, keepOut }: ProjectLimits = {}): ProjectFiles {
  const root = realPathOf(project, ".");
  if (identity !== undefined && !isSameDirectory(identityOf(root), identity)) throw directoryReplaced(project);

  /** The real path of a path of the project. */
  function locate(path: string, use: "read" | "written", asked = path): string {
    const real = realPathOf(join(root, ...path.split("/")), asked);
    if (!isWithin(real, root)) throw notInProject(asked, "leads outside the project");
    const inside = relative(root, real).split(sep).join("/");
    const fault = inside === "" ? undefined : projectPathFault(inside, use);
    if (fault !== undefined) throw notInProject(asked, `leads to a path that ${fault}`);
    if (keepOut !== undefined && isWithin(real, whereItLies(keepOut))) {
      throw notInProject(asked, "leads to the data directory of acp-skills");
    }
    return real;
  }

  function check(path: string, use: "read" | "written"): void {
    const fault = projectPathFault(path, use);
    if (fault !== undefined) throw notInProject(path, fault);
  }

  return {
    async *read(path, maxBytes) {
      check(path, "read");
      const handle = await refusalOfDisk(path, () => openHandleAtRealPath(locate(path, "read")));
      try {
        const stats = await handle.stat();
        if (!stats.isFile()) throw notInProject(path, "is not a regular file");
        if (stats.size > maxBytes) throw tooLarge(path, maxBytes);
        yield* chunksOf(handle, path);
      } finally {
        await handle.close();
      }
    },

    async write(path, content, { overwrite, signal }) {
      check(path, "written");
      const segments = path.split("/");
      const name = segments.pop() ?? "";
      await refusalOfDisk(path, async () => {
        const directory = holdDirectory(locate(segments.join("/") || ".", "written", path));
        try {
          await writeIn(directory.path, name, { path, content, overwrite, signal });
        } finally {
          directory.close();
        }
      });
    },
  };
}

interface Writing {
  readonly path: string;
  readonly content: AsyncIterable<Uint8Array>;
  readonly overwrite: boolean;
  readonly signal: AbortSignal;
}

async function writeIn(directory: string, name: string, { path, content, overwrite, signal }: Writing): Promise<void> {
  const target = join(directory, name);
  const there = lstatSync(target, { throwIfNoEntry: false });
  if (there !== undefined && !overwrite) throw fileTaken(path);
  if (there !== undefined && !there.isFile()) throw notInProject(path, "is not a regular file");
  const temporary = join(directory, `.${name.slice(0, 100)}.${randomBytes(6).toString("hex")}.tmp`);
  const handle = await open(temporary, createFlags, createMode);
  try {
    try {
      for await (const chunk of content) {
        signal.throwIfAborted();
        await handle.writeFile(chunk);
      }
      if (there !== undefined) await handle.chmod(there.mode & 0o777);
    } finally {
      await handle.close();
    }
    if (overwrite) renameSync(temporary, target);
    else moveToNew(temporary, target, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Unlike a rename, a hard link fails if the file was created meanwhile. */
function moveToNew(from: string, to: string, path: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw fileTaken(path);
    // A file system without hard links.
    if (isThere(to)) throw fileTaken(path);
    renameSync(from, to);
  }
}

function isThere(path: string): boolean {
  const stats: Stats | undefined = lstatSync(path, { throwIfNoEntry: false });
  return stats !== undefined;
}

async function* chunksOf(handle: FileHandle, path: string): AsyncGenerator<Uint8Array> {
  for (;;) {
    const buffer = new Uint8Array(chunkBytes);
    const { bytesRead } = await refusalOfDisk(path, () => handle.read(buffer, 0, chunkBytes, null));
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

function realPathOf(path: string, asked: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
    const hint = "Paths are relative to the session's directory; directories are not created.";
    throw new SkillsError("FILE_NOT_FOUND", `${JSON.stringify(asked)} does not exist in the project.`, {
      cause: error,
      facts: { hint },
    });
  }
}

function whereItLies(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path; // It does not exist, so nothing leads into it.
  }
}
