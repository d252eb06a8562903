import { lstatSync, mkdirSync, renameSync, rmSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import {
  type HeldDirectory,
  holdChild,
  holdDirectory,
  inChild,
  joinPath,
  listHeld,
} from "../../base/paths/at-real-path.ts";
import { groupBy } from "../../base/limited-map.ts";
import { type DirectoryIdentity, directoryIdentityOf, isSameDirectory } from "../../base/paths/identity.ts";
import { ifThere, systemCode } from "../../base/failures/system-error.ts";
import { syncDirectoryNow } from "../../base/paths/directories.ts";
import { SkillsError, isSkillsError } from "../../base/errors.ts";
import { type ChangeRecord, type UnfinishedChange, stagingPrefix } from "./change-record.ts";
import { type InstalledFiles, readInstalled } from "./read-installed.ts";
import type { SkillFile } from "../reader.ts";

/** A directory beside the skills directory, on the same file system. It holds new skills before a swap and the replaced ones after it. */
export interface Staging {
  /** Writes a skill into the staging; nothing is installed yet. */
  write(name: string, files: readonly SkillFile[]): void;
  /**
   * Replaces the installed skill by the written one, or by nothing. `isExpected` gets the old files when they are out of reach of others;
   * if it refuses, they are restored and undefined is returned. Otherwise returns a function that undoes the swap.
   */
  swap(name: string, isExpected: (before: InstalledFiles | undefined) => boolean): (() => void) | undefined;
  /** Removes the replaced skills. Throws UNREADABLE, and removes nothing, if some could not be put back. */
  close(): void;
}

/** The staging of a process that was killed. */
export interface LeftStaging {
  /** Whether a skill is installed (`here`), still to be installed (`new`), or set aside (`old`). */
  has(skill: string): Readonly<Record<"here" | Side, boolean>>;
  /** Puts a skill that was set aside back into the skills directory, which must not have it. */
  putBack(skill: string): void;
  /** Removes the staging and everything in it. */
  close(): void;
}

type Side = "new" | "old";

/** Creates a staging for the skills directory at a real path, and notes its identity in the record. */
export function openStaging(skills: string, record: ChangeRecord): Staging {
  const holding = holdStaging(skills, record.id);
  const { parent, target, name, real } = holding;
  let held: HeldDirectory;
  let directories: [HeldDirectory, HeldDirectory];
  try {
    mkdirSync(`${parent.path}/${name}`, { mode: 0o700 });
    held = holdChild(parent, name, real);
    const identity = directoryIdentityOf(held.path);
    if (identity !== undefined) record.noteStaging(identity);
    directories = (["new", "old"] as const).map((room) => {
      mkdirSync(`${held.path}/${room}`, { mode: 0o700 });
      return holdChild(held, room, path.join(real, room));
    }) as [HeldDirectory, HeldDirectory];
  } catch (error) {
    rmSync(`${parent.path}/${name}`, { recursive: true, force: true });
    holding.release();
    throw error;
  }
  const [fresh, aside] = directories;
  const written = new Set<string>();
  /** The skills that were moved away and cannot be put back. */
  const stranded = new Set<string>();
  return {
    write(skill, files) {
      mkdirSync(`${fresh.path}/${skill}`, { mode: 0o755 });
      inChild(fresh, skill, path.join(real, "new"), (child, at) => writeFiles(child, at, files));
      written.add(skill);
    },
    swap(skill, isExpected) {
      const wasThere = moveIfThere(`${target.path}/${skill}`, `${aside.path}/${skill}`);
      const putBack = (isNewThere = false): void => {
        stranded.add(skill);
        if (isNewThere) renameSync(`${target.path}/${skill}`, `${fresh.path}/${skill}`);
        if (wasThere) renameSync(`${aside.path}/${skill}`, `${target.path}/${skill}`);
        stranded.delete(skill);
      };
      try {
        if (!isExpected(wasThere ? readInstalled(path.join(real, "old"), skill) : undefined)) {
          putBack();
          return undefined;
        }
        if (written.has(skill)) renameSync(`${fresh.path}/${skill}`, `${target.path}/${skill}`);
      } catch (error) {
        putBack();
        throw error;
      }
      syncDirectoryNow(target.path);
      return () => putBack(written.has(skill));
    },
    close() {
      for (const room of directories) room.close();
      if (stranded.size === 0) {
        remove(holding, held);
        return;
      }
      held.close();
      holding.release();
      const message = `${[...stranded].join(", ")} in ${real}/old could not be put back; the next acp-skills update, add or remove does.`;
      throw new SkillsError("UNREADABLE", message);
    },
  };
}

/**
 * Opens the staging that a record names, without following links. Undefined if there is none; `foreign` for anything else of that name,
 * which is left as it is.
 */
export function reopenStaging(
  skills: string,
  { id, staging }: Pick<UnfinishedChange, "id" | "staging">,
): LeftStaging | "foreign" | undefined {
  const holding = holdStaging(skills, id);
  const { target, real } = holding;
  const held = holdOwn(holding, staging);
  if (held === undefined || held === "foreign") {
    holding.release();
    return held;
  }
  const roomIn = (room: Side): HeldDirectory | undefined => ifThere(() => holdChild(held, room, path.join(real, room)));
  const [fresh, aside] = [roomIn("new"), roomIn("old")];
  const isIn = (room: HeldDirectory | undefined, skill: string): boolean =>
    room !== undefined && lstatSync(`${room.path}/${skill}`, { throwIfNoEntry: false }) !== undefined;
  return {
    has: (skill) => ({ here: isIn(target, skill), new: isIn(fresh, skill), old: isIn(aside, skill) }),
    putBack: (skill) => {
      renameSync(`${aside?.path ?? ""}/${skill}`, `${target.path}/${skill}`);
      syncDirectoryNow(target.path);
    },
    close() {
      for (const room of [fresh, aside]) room?.close();
      remove(holding, held);
    },
  };
}

function holdOwn(
  { parent, name, real }: HeldStaging,
  identity: DirectoryIdentity | undefined,
): HeldDirectory | "foreign" | undefined {
  let held: HeldDirectory | undefined;
  try {
    // Nothing is written to a staging before its identity is noted.
    if (identity === undefined) rmdirSync(`${parent.path}/${name}`);
    held = holdChild(parent, name, real);
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT") return undefined;
    if (["ENOTDIR", "ELOOP", "ENOTEMPTY", "EEXIST"].includes(code) || isSkillsError(error)) return "foreign";
    throw error;
  }
  if (isSameDirectory(directoryIdentityOf(held.path), identity)) return held;
  held.close();
  return "foreign";
}

type HeldStaging = ReturnType<typeof holdStaging>;

/** Opens the directories of a staging and of the skills; `name` and `real` are those of the staging. */
function holdStaging(skills: string, id: string) {
  const above = path.dirname(skills);
  const name = stagingPrefix + id;
  const parent = holdDirectory(above);
  let target: HeldDirectory;
  try {
    target = holdDirectory(skills);
  } catch (error) {
    parent.close();
    throw error;
  }
  const release = (): void => {
    parent.close();
    target.close();
  };
  return { parent, target, name, real: joinPath(above, name), release };
}

function remove({ parent, name, real, release }: HeldStaging, held: HeldDirectory): void {
  try {
    emptyDirectory(held, real);
    rmdirSync(`${parent.path}/${name}`);
  } finally {
    held.close();
    release();
  }
}

function moveIfThere(from: string, to: string): boolean {
  const isMoved = ifThere(() => {
    renameSync(from, to);
    return true;
  });
  return isMoved ?? false;
}

/**
 * Writes files durably to an empty directory. Each directory is held open, so that nothing is written elsewhere if one is replaced by a
 * link. Throws EEXIST if two paths are one on this file system.
 */
function writeFiles(held: HeldDirectory, real: string, files: readonly SkillFile[]): void {
  const isDeeper = ({ path }: SkillFile): boolean => path.includes("/");
  for (const { path, bytes, executable } of files.filter((file) => !isDeeper(file)))
    writeFileSync(`${held.path}/${path}`, bytes, { flag: "wx", mode: executable ? 0o755 : 0o644, flush: true });
  const below = groupBy(files.filter(isDeeper), ({ path }) => path.slice(0, path.indexOf("/")));
  for (const [name, inner] of below) {
    mkdirSync(`${held.path}/${name}`, { mode: 0o755 });
    const files = inner.map((file) => ({ ...file, path: file.path.slice(name.length + 1) }));
    inChild(held, name, real, (child, path) => writeFiles(child, path, files));
  }
  syncDirectoryNow(held.path);
}

/** Removes everything in a held directory; links are removed, never followed. */
function emptyDirectory(held: HeldDirectory, real: string): void {
  for (const entry of listHeld(held, real)) {
    if (entry.isDirectory()) {
      inChild(held, entry.name, real, emptyDirectory);
      rmdirSync(`${held.path}/${entry.name}`);
    } else unlinkSync(`${held.path}/${entry.name}`);
  }
}
