import path from "node:path";
import { openCopyFinder } from "./copies.ts";
import { wouldBeSkill } from "./dangling-links.ts";
import type { DanglingLink } from "./dangling-links.ts";
import {
  danglingLink,
  ignored,
  missingRoot,
  notReadInTime,
  tooDeep,
  tooManyDirectories,
  unreadable,
} from "./disk-findings.ts";
import { nothingFound } from "./found.ts";
import type { Found, FoundSoFar } from "./found.ts";
import { noIgnoreRules } from "../ignore/ignored.ts";
import { readDirectory } from "../files/read-directory.ts";
import type { DirectoryRecord } from "../files/read-directory.ts";
import { loadManifestReader, needsManifestReader } from "../files/read-skill-file.ts";
import { joinPath } from "../files/real-paths.ts";
import type { Root } from "./roots.ts";
import { openScanMemory } from "./scan-memory.ts";
import type { Known } from "./scan-memory.ts";
import type { SkillFiles } from "../files/skill-files.ts";
import { withinTime } from "../../base/slices.ts";
import type { Steps } from "../../base/slices.ts";
import { openUnreadPlaces } from "./unread-places.ts";
import type { UnreadPlace } from "./unread-places.ts";
import { newAllowance, nextVisit } from "./visits.ts";
import type { Level, Visit } from "./visits.ts";

/** The bounds of C-1.6. */
interface ScanLimits {
  /** How many directories below its root a skill may lie. */
  readonly depth: number;
  /** Directories without a skill, in one root. */
  readonly directories: number;
  /** The same, inside one skill. */
  readonly insideSkill: number;
  /** Directories that are not read, but looked into for skills that are left out, in one root. */
  readonly unread: number;
  /** Of work on one root in a run; what others do between its steps does not count. */
  readonly milliseconds: number;
}

export interface ScanOptions {
  readonly roots: readonly Root[];
  readonly files: SkillFiles;
  readonly limits?: ScanLimits;
  /** Called before a directory is read. */
  readonly onDirectory?: (directory: string) => void;
  /** Called for each directory that does not matter any more. */
  readonly onForgotten?: (directory: string) => void;
  /** Milliseconds, ever growing. */
  readonly now?: () => number;
  /** Whether to go on as if a directory were as before; asked when one is read anew. */
  readonly isHeld?: (directory: string, before: DirectoryRecord, now: DirectoryRecord | undefined) => boolean;
}

/** Finds the skills below some roots. Remembers what it read, and reads again only what is stale. */
export interface Scan {
  /** One run at a time. */
  run(): Steps<Found>;
  /** Everything is to be read anew. */
  markAllStale(): void;
  /** That directory alone is to be read anew. */
  markDirectoryStale(directory: string): void;
  /** Something happened in a directory, to `name` if that is known. False when it concerns nothing that was found. */
  markStale(directory: string, name?: string): boolean;
}

/** A pause costs as much as a tenth of a visit. */
const visitsBetweenPauses = 8;
const contractLimits: ScanLimits = {
  depth: 12,
  directories: 20_000,
  insideSkill: 1000,
  unread: 5000,
  milliseconds: 20_000,
};

export function openScan(options: ScanOptions): Scan {
  const { roots, files, limits = contractLimits, isHeld, now = () => performance.now() } = options;
  const memory = openScanMemory(roots, options);
  const unreadPlaces = openUnreadPlaces({
    files,
    limit: limits.unread,
    isRead: (directory) => memory.wasRead(directory),
  });
  const copies = openCopyFinder({ files, recall: (directory) => memory.recall(directory)?.record });
  const onDirectory = options.onDirectory && ((directory: string): void => memory.watch(directory));

  /** Adds the places that are not read to `unread`. */
  function* visitRoot(root: Root, found: FoundSoFar, unread: UnreadPlace[]): Steps<void> {
    memory.watch(root.path);
    const real = resolveRoot(root, found);
    if (real === undefined) return;
    const allowance = newAllowance(root.path, false, limits.directories);
    const levels: Level[] = [];
    const dangling: DanglingLink[] = [];
    let count = 0;
    let visit: Visit | undefined = {
      path: real,
      expectedName: path.basename(real),
      depth: 0,
      rules: noIgnoreRules,
      allowance,
      parent: undefined,
    };
    for (; visit !== undefined; visit = yield* nextVisit(levels, unread)) {
      if (++count % visitsBetweenPauses === 0) yield undefined;
      const known = memory.recall(visit.path);
      if (known !== undefined && memory.wasMet(known, root)) continue;
      const { parent } = visit;
      if (visit.depth > limits.depth && parent !== undefined) {
        unread.push({ path: visit.path, parent, reason: "too-deep" });
      } else if (visit.allowance.left <= 0) found.addFinding(tooManyDirectories(visit.allowance));
      else {
        const record = yield* readIfStale(visit, root, known);
        if (record === undefined) continue;
        collect(record, root, visit, found);
        if (!visit.allowance.insideSkill && !record.isSkill) {
          for (const name of record.dangling) dangling.push({ record, name, isInRoot: visit.depth === 0 });
        }
        if (record.children.length > 0) levels.push(levelBelow(record, visit));
      }
    }
    const isSkill = (directory: string): boolean => memory.recall(directory)?.record.isSkill === true;
    for (const link of dangling) {
      if (wouldBeSkill(link, root, isSkill)) found.addFinding(danglingLink(joinPath(link.record.path, link.name)));
    }
  }

  /** Once all roots were read: what one of them ignores may be another. */
  function* countUnread(_root: Root, found: FoundSoFar, places: readonly UnreadPlace[]): Steps<void> {
    unreadPlaces.restart();
    const tooDeepFirst = places.toSorted((a, b) => Number(a.reason === "ignored") - Number(b.reason === "ignored"));
    for (const place of tooDeepFirst) {
      const unread = yield* unreadPlaces.count(place);
      found.addFinding(
        place.reason === "ignored" ? ignored(place.path, unread) : tooDeep(place.path, unread, limits.depth),
      );
    }
  }

  function* readIfStale(visit: Visit, root: Root, known: Known | undefined): Steps<DirectoryRecord | undefined> {
    const { path: directory, expectedName } = visit;
    if (known !== undefined && memory.isFresh(known, expectedName)) {
      memory.meet(known, root);
      return known.record;
    }
    const previous = known?.record;
    let now = readDirectory(directory, expectedName, { files, onDirectory });
    if (now === needsManifestReader) {
      yield loadManifestReader();
      now = readDirectory(directory, expectedName, { files, onDirectory });
    }
    if (now === needsManifestReader) throw new Error("the reader of skill.toml was not loaded");
    const record = previous !== undefined && isHeld?.(directory, previous, now) ? previous : now;
    if (record !== undefined) memory.remember(record, root, known);
    return record;
  }

  function collect(record: DirectoryRecord, root: Root, visit: Visit, found: FoundSoFar): void {
    for (const finding of record.strays) found.addFinding(finding);
    if (record.isSkill) {
      found.addSkill(record, root);
      return;
    }
    visit.allowance.left--;
    for (const finding of record.findings) found.addFinding(finding);
  }

  function levelBelow(record: DirectoryRecord, visit: Visit): Level {
    const { expectedName, depth } = visit;
    const allowance = record.isSkill ? newAllowance(record.path, true, limits.insideSkill) : visit.allowance;
    let { rules } = visit;
    if (record.ignored.length > 0) rules = [...rules, { base: record.path, patterns: record.ignored }];
    return { record, expectedName, depth: depth + 1, rules, allowance, next: 0 };
  }

  /** The real directory of a root. A root asked for by name must be there; the others may be missing. */
  function resolveRoot(root: Root, found: FoundSoFar): string | undefined {
    try {
      const real = files.resolve(root.path);
      const before = memory.realRoot(root);
      if (real === undefined && before !== undefined && isHeld?.(root.path, before, undefined)) return before.path;
      memory.setRealRoot(root, real);
      if (real === undefined && root.origin === "explicit") found.addFinding(missingRoot(root.path));
      return real;
    } catch (error) {
      found.addFinding(unreadable(root.path, error));
      return undefined;
    }
  }

  return {
    *run() {
      memory.startRun();
      const found = nothingFound();
      const unread = roots.map((): UnreadPlace[] => []);
      for (const stage of [visitRoot, countUnread]) {
        for (const [index, root] of roots.entries()) {
          const isWhole = yield* withinTime(stage(root, found, unread[index] ?? []), now, limits.milliseconds);
          if (!isWhole) found.addFinding(notReadInTime(root.path, limits.milliseconds));
        }
      }
      memory.endRun();
      return { skills: yield* copies.compare(found.skills), findings: found.findings };
    },
    markAllStale: () => memory.markAllStale(),
    markDirectoryStale: (directory) => void memory.markDirectoryStale(directory),
    markStale: (directory, name) => memory.markStale(directory, name),
  };
}
