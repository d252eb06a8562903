import { joinPath } from "../../../base/paths/at-real-path.ts";
import type { Steps } from "../../../base/promises.ts";
import type { DirectoryEntry, SkillFiles } from "../../files.ts";
import type { Finding } from "../../rules.ts";
import { leavingOut, wholeFile } from "./disk-findings.ts";
import { type DirectoryRecord, skipped } from "../read-directory.ts";
import { isSkillFileName } from "../../skill.ts";

/** A directory that is not read. */
export interface UnreadPlace {
  readonly path: string;
  readonly parent: DirectoryRecord;
  readonly reason: "too-deep" | "ignored";
}

/** The skills in a directory that is not read. */
interface Unread {
  readonly count: number;
  /** A file of a skill there. */
  readonly first: string | undefined;
  /** Whether all of it was looked at. */
  readonly isWhole: boolean;
}

const directoriesBetweenPauses = 8;

/** Reports how many skills are in directories that are not read. */
export class UnreadPlaces {
  readonly #files: SkillFiles;
  readonly #limits: { readonly depth: number; readonly unread: number };
  readonly #isRead: (directory: string) => boolean;
  /** What is in a place, until the record of its parent changes. */
  readonly #known = new WeakMap<DirectoryRecord, Map<string, Unread>>();
  #left = 0;

  /** Looks into `unread` directories per report, except those that were read after all, as below another root. */
  constructor(
    files: SkillFiles,
    limits: { readonly depth: number; readonly unread: number },
    isRead: (directory: string) => boolean,
  ) {
    this.#files = files;
    this.#limits = limits;
    this.#isRead = isRead;
  }

  /** Without reading skills or following links. */
  *report(
    places: readonly UnreadPlace[],
    to: { readonly addFinding: (finding: Finding | undefined) => void },
  ): Steps<void> {
    this.#left = this.#limits.unread;
    const tooDeepFirst = places.toSorted((a, b) => Number(a.reason === "ignored") - Number(b.reason === "ignored"));
    for (const place of tooDeepFirst) {
      const ofParent = this.#known.get(place.parent) ?? new Map<string, Unread>();
      this.#known.set(place.parent, ofParent);
      const unread = ofParent.get(place.path) ?? (yield* this.#search(place));
      ofParent.set(place.path, unread);
      to.addFinding(toFinding(place, unread, this.#limits.depth));
    }
  }

  *#search({ path, reason }: UnreadPlace): Steps<Unread> {
    const waiting = [path];
    let found = 0;
    let first: string | undefined;
    let visits = 0;
    for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
      if (this.#isRead(directory)) continue;
      if (this.#left <= 0) return { count: found, first, isWhole: false };
      this.#left--;
      if (++visits % directoriesBetweenPauses === 0) yield undefined;
      const entries = this.#list(directory);
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

  #list(directory: string): readonly DirectoryEntry[] {
    try {
      return [...this.#files.list(directory)].sort((a, b) => (a.name < b.name ? 1 : -1));
    } catch {
      return [];
    }
  }
}

/** Undefined if there are no skills in a directory. */
function toFinding({ path, reason }: UnreadPlace, unread: Unread, depth: number): Finding | undefined {
  const { count, first, isWhole } = unread;
  if (count === 0 && isWhole) return undefined;
  if (reason === "ignored" && first === undefined) {
    const message = "too many ignored directories to search all of them for skills";
    return wholeFile("ignored-unsearched", path, message, "List those without skills in a file .ignore.");
  }
  const finding = reason === "ignored" ? ignored(path, unread) : tooDeep(path, unread, depth);
  return isWhole ? leavingOut(count, finding) : finding;
}

function ignored(directory: string, unread: Unread): Finding {
  const message = `.gitignore excludes ${directory}: ${howMany(unread)} not read`;
  const fix = "Remove the directory from .gitignore, or list it in a file .ignore if its skills should not be used.";
  return wholeFile("skill-ignored", unread.first ?? directory, message, fix);
}

function tooDeep(directory: string, unread: Unread, depth: number): Finding {
  const message = `more than ${depth} directories below the root, ${howMany(unread)} not read`;
  const fix = "Move them up, or name a root nearer to them.";
  return wholeFile("too-deep", unread.first ?? directory, message, fix);
}

function howMany({ count, isWhole }: Unread): string {
  if (count === 0) return "there may be skills that are";
  return `${isWhole ? "" : "at least "}${count === 1 ? "1 skill is" : `${count} skills are`}`;
}
