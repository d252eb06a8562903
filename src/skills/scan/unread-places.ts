import type { Unread } from "./disk-findings.ts";
import { skipped } from "./read-directory.ts";
import type { DirectoryRecord } from "./read-directory.ts";
import { joinPath } from "../files/skill-files.ts";
import { isSkillFileName } from "./skill-file-names.ts";
import type { Entry, SkillFiles } from "../files/skill-files.ts";
import type { Steps } from "../../base/slices.ts";

/** A directory that is not read. */
export interface UnreadPlace {
  readonly path: string;
  readonly parent: DirectoryRecord;
  readonly reason: "too-deep" | "ignored";
}

const directoriesBetweenPauses = 8;

/** Counts the skills in directories that are not read. */
export class UnreadPlaces {
  readonly #files: SkillFiles;
  readonly #limit: number;
  readonly #isRead: (directory: string) => boolean;
  readonly #known = new WeakMap<DirectoryRecord, Map<string, Unread>>();
  #left: number;

  /** Looks into `limit` directories until {@link restart}, except those that were read after all, as below another root. */
  constructor(files: SkillFiles, limit: number, isRead: (directory: string) => boolean) {
    this.#files = files;
    this.#limit = this.#left = limit;
    this.#isRead = isRead;
  }

  restart(): void {
    this.#left = this.#limit;
  }

  /** Without reading skills or following links; cached until the record of the parent changes. */
  *count(place: UnreadPlace): Steps<Unread> {
    const ofParent = this.#known.get(place.parent) ?? new Map<string, Unread>();
    this.#known.set(place.parent, ofParent);
    const unread = ofParent.get(place.path) ?? (yield* this.#search(place));
    ofParent.set(place.path, unread);
    return unread;
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

  #list(directory: string): readonly Entry[] {
    try {
      return [...this.#files.list(directory)].sort((a, b) => (a.name < b.name ? 1 : -1));
    } catch {
      return [];
    }
  }
}
