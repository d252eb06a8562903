import { randomBytes } from "node:crypto";
import { constants, linkSync, lstatSync, realpathSync, renameSync, rmSync } from "node:fs";
import type { Stats } from "node:fs";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { holdDirectory, openHandleAtRealPath } from "../../base/at-real-path.ts";
import { directoryReplaced, identityOf, isSameDirectory } from "../../base/directory-identity.ts";
import type { DirectoryIdentity } from "../../base/directory-identity.ts";

import { SkillsError } from "../../errors.ts";
import { isWithin } from "../../base/is-within.ts";
import { fileTaken, notInProject, refusalOfDisk, tooLarge } from "./project-refusal.ts";
import { projectPathFault } from "./project-path.ts";

/** The files of a session's project, as the tools reach them (CONTRACT C-4.2, C-4.3). Refusals name paths as the caller gave them. */
export interface ProjectFiles {
  /** The bytes of a regular file, of at most `maxBytes`. Nothing is opened before the first of them is asked for. */
  read(path: string, maxBytes: number): AsyncIterable<Uint8Array>;
  /** Writes a file, whole or not at all; one that is there already only where it may be replaced. */
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
  /** Which directory the project is. */
  readonly identity?: DirectoryIdentity | undefined;
  /** A directory whose files are not the project's. */
  readonly keepOut?: string | undefined;
}

/**
 * Links inside the project are followed where they lead to something that could be named itself. Another process may change what a path
 * leads to at any moment: what is opened is asked afterwards where it lies, and files are made in a directory that is held.
 */
export function projectFiles(project: string, { identity, keepOut }: ProjectLimits = {}): ProjectFiles {
  const root = realPathOf(project, ".");
  if (identity !== undefined && !isSameDirectory(identityOf(root), identity)) throw directoryReplaced(project);

  /** Where a path of the project really leads. */
  function locate(path: string, use: "read" | "written", asked = path): string {
    const real = realPathOf(join(root, ...path.split("/")), asked);
    if (!isWithin(real, root)) throw notInProject(asked, "leads out of the project");
    const inside = relative(root, real).split(sep).join("/");
    const fault = inside === "" ? undefined : projectPathFault(inside, use);
    if (fault !== undefined) throw notInProject(asked, `leads to what ${fault}`);
    if (keepOut !== undefined && isWithin(real, whereItLies(keepOut))) {
      throw notInProject(asked, "leads to what acp-skills keeps for all skills");
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
        if (!stats.isFile()) throw notInProject(path, "names no regular file");
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
  if (there !== undefined && !there.isFile()) throw notInProject(path, "names no regular file");
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

/** A rename would replace what somebody put there meanwhile; a second name is refused then. */
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
    const hint = "Paths are relative to the session's directory; directories are not made.";
    throw new SkillsError("FILE_NOT_FOUND", `There is no ${JSON.stringify(asked)} in the project.`, {
      cause: error,
      facts: { hint },
    });
  }
}

function whereItLies(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path; // It is not there: nothing can lead into it.
  }
}
