import { closeSync, readSync, realpathSync, statSync } from "node:fs";
import type { Dirent } from "node:fs";
import path from "node:path";
import { holdDirectory, listHeld, openInHeld } from "../../base/at-real-path.ts";
import type { HeldDirectory } from "../../base/at-real-path.ts";
import { SkillsError } from "../../errors.ts";
import { openRegularFileSync } from "./open-regular-file.ts";
import type { Entry, Head, SkillFiles } from "./skill-files.ts";

/** What nearly every directory of a skill holds, once for all of them. */
const skillEntry: Entry = Object.freeze({ name: "SKILL.md", kind: "file", link: false });

/** Skills on disk. The bytes of a head are valid until the next one is read: they lie in one buffer that is used again. */
export function diskSkillFiles(): SkillFiles {
  let buffer = Buffer.allocUnsafeSlow(4096);
  /** The directory just listed, if its SKILL.md is a regular file: that is opened there, and not asked what it is. */
  let listed: string | undefined;
  let held: HeldDirectory | undefined;
  let isToBeLetGo = false;

  function letGo(): void {
    held?.close();
    held = listed = undefined;
  }
  /** Until the next one is listed, or this stretch of work ends. */
  function keep(directory: string, holding: HeldDirectory): void {
    [listed, held] = [directory, holding];
    if (isToBeLetGo) return;
    isToBeLetGo = true;
    queueMicrotask(() => {
      isToBeLetGo = false;
      letGo();
    });
  }
  function open(file: string): number {
    if (held === undefined || listed === undefined || !isSkillFileOf(listed, file)) return openRegularFileSync(file);
    try {
      return openInHeld(held, skillEntry.name);
    } catch {
      return openRegularFileSync(file);
    } finally {
      letGo();
    }
  }

  return {
    list(directory) {
      letGo();
      try {
        const holding = holdDirectory(directory);
        let hasSkill = false;
        try {
          const entries = listHeld(holding, directory).map((entry) => toEntry(directory, entry));
          hasSkill = entries.includes(skillEntry);
          return entries;
        } finally {
          if (hasSkill) keep(directory, holding);
          else holding.close();
        }
      } catch (error) {
        throw error instanceof SkillsError ? error : unreadable(directory, error);
      }
    },
    head(file, limit) {
      if (buffer.length < limit) buffer = Buffer.allocUnsafeSlow(limit);
      try {
        return readHead(open(file), limit, buffer);
      } catch (error) {
        throw error instanceof SkillsError ? error : unreadable(file, error);
      }
    },
    resolve(target) {
      try {
        return realpathSync.native(target);
      } catch (error) {
        if (isAbsence(error)) return undefined;
        throw unreadable(target, error);
      }
    },
  };
}

function readHead(descriptor: number, limit: number, buffer: Buffer): Head {
  try {
    let length = 0;
    while (length < limit) {
      const wanted = limit - length;
      const count = readSync(descriptor, buffer, length, wanted, length);
      length += count;
      // Of a regular file, less than what was asked for is the rest.
      if (count < wanted) break;
    }
    // Making a view costs as much as reading a small file.
    return { bytes: length === buffer.length ? buffer : buffer.subarray(0, length), whole: length < limit };
  } finally {
    closeSync(descriptor);
  }
}

/** Without making a string to compare with. */
function isSkillFileOf(directory: string, file: string): boolean {
  return (
    file.startsWith(directory) &&
    file.endsWith(path.sep + skillEntry.name) &&
    file.length <= directory.length + 1 + skillEntry.name.length
  );
}

function toEntry(directory: string, entry: Dirent): Entry {
  const { name } = entry;
  if (entry.isFile()) return name === skillEntry.name ? skillEntry : { name, kind: "file", link: false };
  if (entry.isDirectory()) return { name, kind: "directory", link: false };
  if (!entry.isSymbolicLink()) return { name, kind: "other", link: false };
  return { name, kind: linkedKind(path.join(directory, name)), link: true };
}

function linkedKind(link: string): Entry["kind"] {
  try {
    const stats = statSync(link);
    return stats.isFile() ? "file" : stats.isDirectory() ? "directory" : "other";
  } catch {
    // Missing, a loop of links, or hidden behind a directory that may not be entered: it leads nowhere for us.
    return "dangling";
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission is denied",
  EPERM: "permission is denied",
  ENOENT: "it does not exist",
  ENOTDIR: "it is not a directory",
  EISDIR: "it is a directory",
  ELOOP: "its links lead in a circle",
  ENAMETOOLONG: "its path is too long",
  EMFILE: "this process has too many open files",
  ENFILE: "the system has too many open files",
  EIO: "the disk reports an error",
  ENXIO: "it is not a regular file",
  ESPIPE: "it is not a regular file",
};

function unreadable(target: string, error: unknown): SkillsError {
  const code = systemCode(error);
  const reason = reasons[code] ?? (error instanceof Error ? error.message : String(error));
  return new SkillsError("UNREADABLE", `${target} cannot be read: ${reason}.`, {
    cause: error,
    facts: { path: target, reason: code },
  });
}

function isAbsence(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"].includes(systemCode(error));
}

function systemCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
