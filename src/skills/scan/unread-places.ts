import type { Unread } from "./disk-findings.ts";
import { skipped } from "../files/read-directory.ts";
import type { DirectoryRecord } from "../files/read-directory.ts";
import { joinPath } from "../files/real-paths.ts";
import { isSkillFileName } from "../files/skill-file-names.ts";
import type { Entry, SkillFiles } from "../files/skill-files.ts";
import type { Steps } from "../../base/slices.ts";

/** A directory that is not read. */
export interface UnreadPlace {
  readonly path: string;
  /** The directory that holds it. */
  readonly parent: DirectoryRecord;
  readonly reason: "too-deep" | "ignored";
}

const directoriesBetweenPauses = 8;

/** Counts the skills in places that are not read. */
export interface UnreadPlaces {
  /** Without reading them or following links; remembered for as long as the directory above is as it was. */
  count(place: UnreadPlace): Steps<Unread>;
  /** So many directories may be looked into again. */
  restart(): void;
}

interface UnreadPlacesOptions {
  readonly files: SkillFiles;
  /** How many directories are looked into before {@link UnreadPlaces.restart} is called. */
  readonly limit: number;
  /** Whether a directory was read after all, as below another root. */
  readonly isRead: (directory: string) => boolean;
}

export function openUnreadPlaces({ files, limit, isRead }: UnreadPlacesOptions): UnreadPlaces {
  const known = new WeakMap<DirectoryRecord, Map<string, Unread>>();
  let left = limit;

  function* count(place: UnreadPlace): Steps<Unread> {
    const ofParent = known.get(place.parent) ?? new Map<string, Unread>();
    known.set(place.parent, ofParent);
    const unread = ofParent.get(place.path) ?? (yield* search(place));
    ofParent.set(place.path, unread);
    return unread;
  }

  function* search({ path, reason }: UnreadPlace): Steps<Unread> {
    const waiting = [path];
    let found = 0;
    let first: string | undefined;
    let visits = 0;
    for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
      if (isRead(directory)) continue;
      if (left <= 0) return { count: found, first, isWhole: false };
      left--;
      if (++visits % directoriesBetweenPauses === 0) yield undefined;
      const entries = list(directory);
      // What is another repository cannot have been committed to this one.
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

  function list(directory: string): readonly Entry[] {
    try {
      return [...files.list(directory)].sort((a, b) => (a.name < b.name ? 1 : -1));
    } catch {
      return [];
    }
  }

  return {
    count,
    restart: (): void => {
      left = limit;
    },
  };
}
