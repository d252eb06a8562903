import path from "node:path";
import { danglingLink, missingRoot, notReadInTime, tooDeep, tooManyDirectories, unreadable } from "./disk-findings.ts";
import { nothingFound } from "./found.ts";
import type { Found, FoundSoFar } from "./found.ts";
import { isIgnored, noIgnoreRules } from "./ignored.ts";
import type { IgnoreRules } from "./ignored.ts";
import { readDirectory } from "./read-directory.ts";
import type { DirectoryRecord } from "./read-directory.ts";
import { loadManifestReader, needsManifestReader } from "./read-skill-file.ts";
import { joinPath } from "./real-paths.ts";
import type { Root } from "./roots.ts";
import { openScanMemory } from "./scan-memory.ts";
import type { Known } from "./scan-memory.ts";
import type { SkillFiles } from "./skill-files.ts";
import { isVersion } from "./skill-version.ts";
import { withinTime } from "../slices.ts";
import type { Steps } from "../slices.ts";

/** The bounds of C-1.6. */
interface ScanLimits {
  /** How many directories below its root a skill may lie. */
  readonly depth: number;
  /** Directories without a skill, in one root. */
  readonly directories: number;
  /** The same, inside one skill. */
  readonly insideSkill: number;
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
const contractLimits: ScanLimits = { depth: 6, directories: 20_000, insideSkill: 1000, milliseconds: 20_000 };

/** A directory still to be visited. */
interface Visit {
  readonly path: string;
  /** As its skill should be called. */
  readonly expectedName: string;
  readonly depth: number;
  readonly rules: IgnoreRules;
  readonly allowance: Allowance;
}

/** The directories below one; those before `next` have been visited. */
interface Level {
  readonly record: DirectoryRecord;
  /** As the skill of a version should be called. */
  readonly expectedName: string;
  readonly depth: number;
  readonly rules: IgnoreRules;
  readonly allowance: Allowance;
  next: number;
}

/** How many more directories without a skill may be read below `owner`. */
interface Allowance {
  readonly owner: string;
  readonly insideSkill: boolean;
  readonly limit: number;
  left: number;
}

export function openScan(options: ScanOptions): Scan {
  const { roots, files, limits = contractLimits, isHeld, now = () => performance.now() } = options;
  const memory = openScanMemory(roots, options);
  const onDirectory = options.onDirectory && ((directory: string): void => memory.watch(directory));

  function* visitRoot(root: Root, found: FoundSoFar): Steps<void> {
    memory.watch(root.path);
    const real = resolveRoot(root, found);
    if (real === undefined) return;
    const allowance = newAllowance(root.path, false, limits.directories);
    const levels: Level[] = [];
    let count = 0;
    let visit: Visit | undefined = {
      path: real,
      expectedName: path.basename(real),
      depth: 0,
      rules: noIgnoreRules,
      allowance,
    };
    for (; visit !== undefined; visit = yield* nextVisit(levels)) {
      if (++count % visitsBetweenPauses === 0) yield undefined;
      const known = memory.recall(visit.path);
      if (known !== undefined && memory.wasMet(known, root)) continue;
      if (visit.depth > limits.depth) found.addFinding(tooDeep(files, visit.path, limits.depth));
      else if (visit.allowance.left <= 0) found.addFinding(tooManyDirectories(visit.allowance));
      else {
        const record = yield* readIfStale(visit, root, known);
        if (record === undefined) continue;
        collect(record, root, visit, found);
        if (record.children.length > 0) levels.push(levelBelow(record, visit));
      }
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
    if (record.isSkill) {
      found.addSkill(record, root);
      return;
    }
    visit.allowance.left--;
    for (const finding of record.findings) found.addFinding(finding);
    if (visit.allowance.insideSkill) return;
    // Editors leave links named .# while a file is open.
    const links = record.dangling.filter((name) => !name.startsWith("."));
    for (const name of links) found.addFinding(danglingLink(joinPath(record.path, name)));
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
      for (const root of roots) {
        const isWhole = yield* withinTime(visitRoot(root, found), now, limits.milliseconds);
        if (!isWhole) found.addFinding(notReadInTime(root.path, limits.milliseconds));
      }
      memory.endRun();
      return { skills: found.skills, findings: found.findings };
    },
    markAllStale: () => memory.markAllStale(),
    markDirectoryStale: (directory) => void memory.markDirectoryStale(directory),
    markStale: (directory, name) => memory.markStale(directory, name),
  };
}

/** Depth first: what lies below a directory comes before its neighbours. */
function* nextVisit(levels: Level[]): Steps<Visit | undefined> {
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const { record, depth, rules, allowance } = level;
    const child = record.children[level.next++];
    if (child === undefined) {
      levels.pop();
      continue;
    }
    const { name, target } = child;
    const below = joinPath(record.path, name);
    if (rules.length > 0 && (yield* isIgnored(rules, below))) continue;
    const expectedName = isVersion(name) ? level.expectedName : name;
    return { path: target ?? below, expectedName, depth, rules, allowance };
  }
  return undefined;
}

function newAllowance(owner: string, insideSkill: boolean, limit: number): Allowance {
  return { owner, insideSkill, limit, left: limit };
}
