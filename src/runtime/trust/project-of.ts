import { type Stats, fstatSync, lstatSync, readSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { attempt } from "../../base/failures/system-error.ts";
import { joinPath, openAtRealPath, withDescriptor } from "../../base/paths/at-real-path.ts";
import { isWithin } from "../../base/paths/location.ts";
import type { Approvals } from "./approvals/scope-approvals.ts";

/** The longest path of Linux (4 KiB), and some text around it. */
const maxFileBytes = 8 * 1024;

/**
 * The path of a directory's project: the top directory of its git repository, also for subdirectories. Without git it is `without`, else
 * the directory. All worktrees share the project of the main worktree, or of their bare repository, unless they are `separate`. A submodule
 * is a project of its own. A `.git` that git does not accept as a repository is ignored, so that an empty one does not move a project. A
 * repository in the home directory, or above it, is no project for the directories below it, which are too many and too different.
 *
 * Reads git's files and never runs git, because a project's configuration can make git run programs. A worktree counts only if the
 * repository names it, too, so that no project can pass for another one. Not cached, because a directory may be replaced; takes a few
 * system calls.
 */
export function projectOf(
  directory: string,
  worktrees: "shared" | "separate",
  home = homedir(),
  without?: string,
): string {
  const real = realPathOf(directory);
  if (real === undefined) return without ?? path.resolve(directory);
  for (let top = real; ; top = path.dirname(top)) {
    const git = joinPath(top, ".git");
    const found = statAt(git);
    if (found === "not ours" || (found !== "missing" && isRepository(git))) {
      const isOfAll = top !== real && isWithin(realPathOf(home) ?? home, top);
      if (isOfAll || found === "not ours") return without ?? real;
      return (worktrees === "shared" && found.isFile() ? mainOf(top, git) : undefined) ?? top;
    }
    if (path.dirname(top) === top) return without ?? real;
  }
}

/** Whether git accepts a `.git`, a directory or a file that names one, as a repository: it has `HEAD`, `objects` and `refs`. */
export function isRepository(git: string): boolean {
  const real = realPathOf(git);
  if (real === undefined) return false;
  const own = followGitFile(real, path.dirname(git), "gitdir: ") ?? real;
  const shared = followGitFile(joinPath(own, "commondir"), own) ?? own;
  const head = joinPath(own, "HEAD");
  // In old repositories, HEAD is a link.
  const text = readSmallFile(head, "anyone's") ?? attempt(() => `ref: ${readlinkSync(head)}`, "");
  const isHead = /^(?:ref:\s*refs\/|[0-9a-f]{40})/.test(text);
  return isHead && ["objects", "refs"].every((name) => isDirectory(joinPath(shared, name)));
}

/** Whether a path is a directory; false if it is missing or cannot be reached. */
function isDirectory(file: string): boolean {
  return attempt(() => statSync(file).isDirectory(), false);
}

/** The project of a worktree's repository; undefined if `top` is no worktree, or the repository does not name it. */
function mainOf(top: string, git: string): string | undefined {
  const own = followGitFile(git, top, "gitdir: ");
  if (own === undefined) return undefined;
  const room = path.dirname(own);
  const common = path.dirname(room);
  if (path.basename(room) !== "worktrees" || followGitFile(joinPath(own, "commondir"), own) !== common)
    return undefined;
  // The repository itself names the worktree, because this file is inside the repository.
  if (followGitFile(joinPath(own, "gitdir"), own) !== git || statAt(common) === "not ours") return undefined;
  return path.basename(common) === ".git" ? path.dirname(common) : common;
}

/** The real path that a file of git contains. A relative path starts at `base`. */
function followGitFile(file: string, base: string, prefix = ""): string | undefined {
  const text = readSmallFile(file);
  if (text?.startsWith(prefix) !== true) return undefined;
  let end = text.length;
  while (text[end - 1] === "\n" || text[end - 1] === "\r") end -= 1;
  const target = text.slice(prefix.length, end);
  // Windows would connect to the server of a UNC path.
  if (target === "" || target.includes("\0") || /^[\\/]{2}/.test(target)) return undefined;
  return realPathOf(path.resolve(base, target));
}

/** The text of a file at a real path; undefined for anything else. Does not follow a link or block. */
function readSmallFile(file: string, whose: "ours" | "anyone's" = "ours"): string | undefined {
  // Undefined if it is missing, unreadable, or replaced by a link: git would not find a worktree either.
  return attempt(() => withDescriptor(openAtRealPath(file), read), undefined);

  function read(descriptor: number): string | undefined {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || (whose === "ours" && !isOurs(stats)) || stats.size > maxFileBytes) return undefined;
    const buffer = Buffer.alloc(maxFileBytes);
    return buffer.toString("utf8", 0, readSync(descriptor, buffer));
  }
}

/** The real path of a file; undefined if it is missing or cannot be reached. */
function realPathOf(file: string): string | undefined {
  return attempt(() => realpathSync.native(file), undefined);
}

/** Reads the state of a path without following links. Files of other users do not count: git does not trust their repositories either. */
function statAt(file: string): Stats | "missing" | "not ours" {
  // `lstatSync` throws if the directory may not be searched.
  const found = attempt(() => lstatSync(file, { throwIfNoEntry: false }) ?? "missing", "not ours" as const);
  return typeof found === "string" || isOurs(found) ? found : "not ours";
}

function isOurs({ uid }: Stats): boolean {
  return process.getuid === undefined || uid === process.getuid();
}

/**
 * Identifies the repository of a project by the inode and the birth time of its git directory, or of the project's directory without git.
 * Neither path nor device counts: the device number may change when a machine starts. Undefined if the project is missing.
 */
export function repositoryAt(project: string): string | undefined {
  const git = path.join(project, ".git");
  // A bare repository and a directory without git have no `.git`.
  const found = attempt(() => lstatSync(isRepository(git) ? git : project, { bigint: true }), undefined);
  return found && `${found.ino}-${found.birthtimeNs}`;
}

/** Reduces the approvals of a project's path to those for this repository. If another one was at the path, only the blocks count. */
export function ofRepository(approvals: Approvals, repository: string | undefined): Approvals {
  if (approvals.project === undefined || (repository !== undefined && approvals.repository === repository))
    return approvals;
  const { format, project, blocks } = approvals;
  return { format, project, ...(repository !== undefined && { repository }), grants: [], blocks };
}
