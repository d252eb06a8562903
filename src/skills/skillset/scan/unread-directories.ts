import { createHash } from "node:crypto";
import { attempt } from "../../../base/failures/system-error.ts";
import { joinPath } from "../../../base/paths/at-real-path.ts";
import { groupBy } from "../../../base/limited-map.ts";
import type { Steps } from "../../../base/promises.ts";
import type { SkillFiles } from "../../files.ts";
import type { Finding } from "../../rules.ts";
import { leavingOut, wholeFile } from "./disk-findings.ts";
import { type DirectoryRecord, skipped } from "../read-directory.ts";
import { isSkillFileName } from "../../skill.ts";

/** A directory that is not read. */
export interface UnreadDirectory {
  readonly path: string;
  readonly parent: DirectoryRecord;
  readonly reason: "too-deep" | "ignored";
}

/** The skills in a directory that is not read. */
interface Unread {
  readonly count: number;
  /** A file of a skill in the directory. */
  readonly first: string | undefined;
  /** Whether the whole directory was searched. */
  readonly isWhole: boolean;
}

const directoriesBetweenPauses = 8;

interface ReportUnreadOptions {
  readonly files: SkillFiles;
  /** The limits: at most `unread` directories are searched per report. */
  readonly limits: { readonly depth: number; readonly unread: number };
  /** Whether a directory was read after all, as below another root. */
  readonly isRead: (directory: string) => boolean;
}

type ReportUnread = (
  directories: readonly UnreadDirectory[],
  to: { readonly addFinding: (finding: Finding | undefined) => void },
) => Steps<void>;

/** Returns a function that reports the number of skills in directories that are not read, without reading skills or following links. */
export function reportUnread({ files, limits, isRead }: ReportUnreadOptions): ReportUnread {
  /** The results for directories, until the record of the parent changes. */
  const known = new WeakMap<DirectoryRecord, Map<string, Unread>>();
  let left = 0;

  return function* (directories, to) {
    left = limits.unread;
    const tooDeepFirst = directories.toSorted(
      (a, b) => Number(a.reason === "ignored") - Number(b.reason === "ignored"),
    );
    for (const directory of tooDeepFirst) {
      const ofParent = known.get(directory.parent) ?? new Map<string, Unread>();
      known.set(directory.parent, ofParent);
      const unread = ofParent.get(directory.path) ?? (yield* search(directory));
      ofParent.set(directory.path, unread);
      to.addFinding(toFinding(directory, unread, limits.depth));
    }
  };

  function* search({ path, reason }: UnreadDirectory): Steps<Unread> {
    const waiting = [path];
    let found = 0;
    let first: string | undefined;
    let visits = 0;
    for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
      if (isRead(directory)) continue;
      if (left <= 0) return { count: found, first, isWhole: false };
      left--;
      if (++visits % directoriesBetweenPauses === 0) yield undefined;
      const entries = attempt(() => files.list(directory), []).toSorted((a, b) => (a.name < b.name ? 1 : -1));
      // Another repository cannot have been committed to this one.
      if (reason === "ignored" && entries.some(({ name }) => name === ".git")) continue;
      const file = entries.find(({ name, kind }) => kind === "file" && isSkillFileName(name));
      if (file !== undefined) found++;
      first ??= file && joinPath(directory, file.name);
      for (const { name, kind, link } of entries) {
        if (kind === "directory" && !link && !skipped.has(name)) waiting.push(joinPath(directory, name));
      }
    }
    return { count: found, first, isWhole: true };
  }
}

/** The finding for an unread directory; undefined if there are no skills in it. */
function toFinding({ path, reason }: UnreadDirectory, { count, first, isWhole }: Unread, depth: number) {
  if (count === 0 && isWhole) return undefined;
  const howMany = `${isWhole ? "" : "at least "}${count === 1 ? "1 skill is" : `${count} skills are`} not read`;
  if (reason === "too-deep") {
    const message = `more than ${depth} directories below the root, ${howMany}`;
    const fix = "Move them up, or name a root nearer to them.";
    return toLeftOut("too-deep", message, fix);
  }
  if (first === undefined) {
    const message = "too many ignored directories to search all of them for skills";
    return wholeFile("ignored-unsearched", path, message, "List those without skills in a file .ignore.");
  }
  const fix = "Remove the directory from .gitignore, or list it in a file .ignore if its skills should not be used.";
  return toLeftOut("skill-ignored", `.gitignore excludes ${path}: ${howMany}`, fix);

  function toLeftOut(code: "too-deep" | "skill-ignored", message: string, fix: string): Finding {
    const finding = wholeFile(code, first ?? path, message, fix);
    return isWhole ? leavingOut(count, finding) : finding;
  }
}

const maxFileBytes = 1024 * 1024;
const maxFiles = 200;
const maxDirectories = 64;

type CompareSkills = (
  groups: Iterable<readonly DirectoryRecord[]>,
) => Steps<ReadonlyMap<DirectoryRecord, string | undefined>>;

/**
 * Compares the skills of each group. Returns a digest of the content of those whose own files equal another skill's. Skills with a file
 * over 1 MiB, over 200 files in a directory, or over 64 directories never count as copies.
 */
export function compareSkills(
  files: SkillFiles,
  recall: (directory: string) => DirectoryRecord | undefined,
): CompareSkills {
  /** The digests of the skills' own files: a directory is read once for each new record of it. */
  const texts = new WeakMap<DirectoryRecord, string | undefined>();
  const contents = new WeakMap<DirectoryRecord, string | undefined>();

  return function* (groups) {
    const digests = new Map<DirectoryRecord, string | undefined>();
    for (const conflicting of groups) {
      yield undefined;
      const byText = groupBy(conflicting, (record) => textOf(record));
      byText.delete(undefined);
      for (const equals of byText.values()) {
        if (equals.length === 1) continue;
        for (const record of equals) digests.set(record, yield* contentOf(record));
      }
    }
    return digests;
  };

  /** A digest of the skill's own two files: few skills with the same name have equal ones. */
  function textOf(record: DirectoryRecord): string | undefined {
    return digest(texts, record, (name) => isSkillFileName(name) || name === "skill.toml");
  }

  /** A digest of everything in a skill's directory except nested skills. */
  function* contentOf(record: DirectoryRecord): Steps<string | undefined> {
    const parts: string[] = [];
    const waiting = [record];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      yield undefined;
      const own = digest(contents, next, () => true);
      if (own === undefined || parts.length === maxDirectories) return undefined;
      parts.push(`${JSON.stringify(next.path.slice(record.path.length))} ${own}`);
      for (const { name, target } of next.children) {
        const below = recall(target ?? joinPath(next.path, name));
        if (target !== undefined || below === undefined) return undefined;
        if (!below.isSkill) waiting.push(below);
      }
    }
    return parts.join("\n");
  }

  function digest(
    known: WeakMap<DirectoryRecord, string | undefined>,
    record: DirectoryRecord,
    isWanted: (name: string) => boolean,
  ): string | undefined {
    if (!known.has(record)) known.set(record, hashFiles(record.path, isWanted));
    return known.get(record);
  }

  /** A digest of files; undefined if a file is unreadable or too large, so that the skill equals no other. */
  function hashFiles(directory: string, isWanted: (name: string) => boolean): string | undefined {
    return attempt(() => {
      const hash = createHash("sha256");
      const entries = files.list(directory);
      // Packages count, but are not read here.
      if (entries.some(({ name }) => name === "node_modules")) return undefined;
      const names = entries.flatMap(({ name, kind }) => (kind === "file" && isWanted(name) ? [name] : []));
      if (names.length > maxFiles) return undefined;
      for (const name of names.sort()) {
        const { bytes, whole } = files.head(joinPath(directory, name), maxFileBytes);
        if (!whole) return undefined;
        hash.update(`${JSON.stringify(name)} ${bytes.length}\n`).update(bytes);
      }
      return hash.digest("hex");
    }, undefined);
  }
}
