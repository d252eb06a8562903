import { randomBytes } from "node:crypto";
import { constants, linkSync, lstatSync, realpathSync, renameSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { attempt, systemCode } from "../../base/failures/system-error.ts";
import { invalidInput } from "../../base/failures/invalid-input.ts";
import { holdDirectory, openHandleAtRealPath } from "../../base/paths/at-real-path.ts";
import {
  type DirectoryIdentity,
  directoryIdentityOf,
  directoryReplaced,
  isSameDirectory,
} from "../../base/paths/identity.ts";
import { SkillsError, isSkillsError } from "../../base/errors.ts";
import { skillPathFault } from "../../skills/hash.ts";
import { isWithin } from "../../base/paths/location.ts";
import { leadsIntoGit } from "../../base/paths/guarded-names.ts";
import type { Requester } from "../runs/run-caller.ts";
import { unseenCharacters } from "../../base/text/unsafe-characters.ts";

/** The files of a session's project. Errors name paths as the caller gave them. */
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

/** Opens the files of a session's project; `keepOut`: the data directory. Throws PERMISSION_DENIED if the session has no directory. */
export function projectFilesOf(
  { project, projectIdentity }: Pick<Requester, "project" | "projectIdentity">,
  keepOut: string | undefined,
): ProjectFiles {
  if (project !== undefined) return projectFiles(project, { identity: projectIdentity, keepOut });
  const hint = "Open a session with a directory.";
  throw new SkillsError("PERMISSION_DENIED", "The session has no project directory.", { facts: { hint } });
}

const chunkBytes = 256 * 1024;
const { O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;
const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | O_NOFOLLOW;
const createMode = 0o666;

interface ProjectLimits {
  /** The directory that the project was when the session was opened. */
  readonly identity?: DirectoryIdentity | undefined;
  /** A directory whose files never belong to the project. */
  readonly keepOut?: string | undefined;
}

/**
 * Opens the files of a project; links are followed to targets that a caller could name. Another process may replace a path at any moment.
 * So the real path of an open file is checked, and files are created relative to an open directory.
 */
export function projectFiles(project: string, { identity, keepOut }: ProjectLimits = {}): ProjectFiles {
  const root = realPathOf(project, ".");
  if (identity !== undefined && !isSameDirectory(directoryIdentityOf(root), identity)) throw directoryReplaced(project);

  /** Resolves a path of the project to a real path that may be used. */
  function locate(path: string, use: "read" | "written", asked = path): string {
    const real = realPathOf(join(root, ...path.split("/")), asked);
    if (!isWithin(real, root)) throw notInProject(asked, "leads outside the project");
    const inside = relative(root, real).split(sep).join("/");
    const fault = inside === "" ? undefined : projectPathFault(inside, use);
    if (fault !== undefined) throw notInProject(asked, `leads to a path that ${fault}`);
    if (use === "written" && leadsIntoGit(real, root)) throw notInProject(asked, "leads into a repository of git");
    // If `keepOut` does not exist, no path leads into it.
    if (
      keepOut !== undefined &&
      isWithin(
        real,
        attempt(() => realpathSync.native(keepOut), keepOut),
      )
    )
      throw notInProject(asked, "leads to the data directory of acp-skills");
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
          const target = join(directory.path, name);
          const there = lstatSync(target, { throwIfNoEntry: false });
          if (there !== undefined && !overwrite) throw fileTaken(path);
          if (there !== undefined && !there.isFile()) throw notInProject(path, "is not a regular file");
          const temporary = join(directory.path, `.${name.slice(0, 60)}.${randomBytes(6).toString("hex")}.tmp`);
          try {
            await writeNew(temporary, content, signal, there && there.mode & 0o777);
            if (overwrite) renameSync(temporary, target);
            else moveToNew(temporary, target, path);
          } finally {
            rmSync(temporary, { force: true });
          }
        } finally {
          directory.close();
        }
      });
    },
  };
}

async function writeNew(
  file: string,
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  mode: number | undefined,
): Promise<void> {
  const handle = await open(file, createFlags, createMode);
  try {
    for await (const chunk of content) {
      signal.throwIfAborted();
      await handle.writeFile(chunk);
    }
    if (mode !== undefined) await handle.chmod(mode);
  } finally {
    await handle.close();
  }
}

/** Moves a file by a hard link, which, unlike a rename, fails if the target was created meanwhile. */
function moveToNew(from: string, to: string, path: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    // If the target does not exist, the file system has no hard links.
    const isThere = systemCode(error) === "EEXIST" || lstatSync(to, { throwIfNoEntry: false }) !== undefined;
    if (isThere) throw fileTaken(path);
    renameSync(from, to);
  }
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
    const code = systemCode(error);
    if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
    const hint = "Paths are relative to the session's directory; directories are not created.";
    const message = `${JSON.stringify(asked)} does not exist in the project.`;
    throw new SkillsError("FILE_NOT_FOUND", message, { cause: error, facts: { hint } });
  }
}

/** Files that make editors and CI systems run commands, besides dot-files. */
const settings =
  /^(?:jenkinsfile|(?:azure|bitbucket)-pipelines\.ya?ml|appveyor\.ya?ml|.*\.(?:code-workspace|sublime-(?:project|workspace)|iml|ipr|iws))$/i;
/** Characters that some file systems ignore in names, so that `.git` has many spellings. */
const unseen = new RegExp(`[${unseenCharacters}]`, "u");
const unfitForWindows = /[<>:"|?*]|[. ]$/;

/**
 * Why a path cannot name a file of a project, as the end of a sentence that starts with "The path"; undefined if it can.
 * Pure: links are not followed.
 */
export function projectPathFault(
  path: string,
  use: "read" | "written",
  platform = process.platform,
): string | undefined {
  const fault = skillPathFault(path, "the project's directory");
  if (fault !== undefined) return fault;
  const segments = path.split("/");
  const hidden = segments.find((segment) => segment.startsWith("."));
  if (hidden !== undefined)
    return `contains ${hidden}; files and directories whose names start with a dot cannot be ${use}`;
  if (segments.some((segment) => unseen.test(segment))) return "contains invisible characters";
  if (platform === "win32" && segments.some((segment) => unfitForWindows.test(segment)))
    return "is not a valid path on Windows";
  const name = segments.at(-1) ?? "";
  if (use === "written" && settings.test(name)) {
    return `names ${name}; configuration of editors and CI systems cannot be written`;
  }
  return undefined;
}

/** Creates the error for a path that names no file the caller may use; `fault` ends a sentence that starts with "The path". */
function notInProject(path: string, fault: string): SkillsError {
  const hint = "Use the path of a regular file, relative to the session's directory, with / as separator.";
  return new SkillsError("INVALID_PATH", `The path ${JSON.stringify(path.slice(0, maxShownLength))} ${fault}.`, {
    facts: { hint },
  });
}

function fileTaken(path: string): SkillsError {
  const expected = "the path of a new file, or overwrite: true";
  return invalidInput("read_blob", [{ field: "/save_as", expected, actual: path.slice(0, maxShownLength) }]);
}

function tooLarge(path: string, limitBytes: number): SkillsError {
  const message = `${JSON.stringify(path)} is too large; the limit for a blob is ${limitBytes} bytes.`;
  return new SkillsError("BLOB_TOO_LARGE", message, { facts: { limitBytes, hint: "Store a part of it." } });
}

/** Converts file system errors about a file of the project; other errors pass unchanged. */
async function refusalOfDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // The file was replaced by a link after the check.
    const code = isSkillsError(error, "UNREADABLE") ? "ENOENT" : systemCode(error);
    if (unfit[code] !== undefined) throw notInProject(path, unfit[code]);
    if (code === "ENOSPC" || code === "EDQUOT") {
      const message = `Cannot write ${JSON.stringify(path)} of the project: the disk is full.`;
      const hint = "The user has to free space on the project's disk.";
      throw new SkillsError("QUOTA_EXCEEDED", message, { cause: error, facts: { limit: "disk", hint } });
    }
    if (reasons[code] === undefined) throw error;
    const message = `Cannot use ${JSON.stringify(path)} of the project: ${reasons[code]}.`;
    throw new SkillsError("PERMISSION_DENIED", message, { cause: error });
  }
}

const maxShownLength = 133;

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "the operation is not permitted",
  EROFS: "the file system is read-only",
};
const unfit: Readonly<Record<string, string>> = {
  ENOENT: "was replaced while it was being opened",
  ENOTDIR: "was replaced while it was being opened",
  ENAMETOOLONG: "is too long for this file system",
  ELOOP: "is not a regular file",
  ENXIO: "is not a regular file",
  EISDIR: "is not a regular file",
};
