import path from "node:path";
import { joinPath } from "../../base/paths/at-real-path.ts";
import { type Steps, withinTimeBudget } from "../../base/promises.ts";
import { isSkillsError } from "../../base/errors.ts";
import type { SkillFiles } from "../files.ts";
import { invalidName, walkSkill } from "../hash.ts";
import { isVersion } from "../skill.ts";
import { type UnreadDirectory, compareSkills, reportUnread } from "./scan/unread-directories.ts";
import * as findings from "./scan/disk-findings.ts";
import { type IgnoreRules, findIgnoreRule } from "./scan/ignore-files.ts";
import { type DirectoryRecord, loadManifestReader, needsManifestReader, readDirectory } from "./read-directory.ts";
import type { Root } from "./roots.ts";
import { type FoundSkill, FoundSoFar, type Known, ScanMemory, type ScanResult } from "./scan/scan-memory.ts";

/** The limits of a scan. */
interface ScanLimits {
  /** The maximum depth of a skill: the number of levels below its root. */
  readonly depth: number;
  /** The maximum number of directories without a skill, per root. */
  readonly directories: number;
  /** The maximum number of directories without a skill inside one skill. */
  readonly insideSkill: number;
  /** The maximum number of directories per root that are not read, but searched for skills that are left out. */
  readonly unread: number;
  /** The maximum time in milliseconds for one root in a run, not counting other work between its steps. */
  readonly durationMs: number;
}

export interface ScanOptions {
  readonly roots: readonly Root[];
  readonly files: SkillFiles;
  readonly limits?: Partial<ScanLimits>;
  /** Called before a directory is read. */
  readonly onDirectory?: (directory: string) => void;
  /** Called for each directory that is no longer relevant. */
  readonly onForgotten?: (directory: string) => void;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
  /** Whether to retain the previous record of a directory; called when a directory is read again. */
  readonly isHeld?: (directory: string, before: DirectoryRecord, now: DirectoryRecord | undefined) => boolean;
}

/** A directory whose children are being visited, or the start of a root. */
interface Level {
  readonly record: DirectoryRecord | undefined;
  /** The expected skill name in a version directory. */
  readonly expectedName: string;
  readonly depth: number;
  readonly rules: IgnoreRules;
  readonly allowance: Allowance;
  next: number;
}

/** A directory to be visited. */
interface Visit {
  readonly level: Level;
  /** The path below the parent. */
  readonly linked: string;
  /** The real path, which differs from `linked` for a link. */
  readonly path: string;
  readonly expectedName: string;
}

/** The number of further directories without a skill that may be read below `owner`. */
interface Allowance {
  readonly owner: string;
  readonly insideSkill: boolean;
  readonly limit: number;
  left: number;
}

/** The number of visits between pauses: a pause costs as much as a tenth of a visit. */
const visitsBetweenPauses = 8;
const contractLimits: ScanLimits = {
  depth: 12,
  directories: 20_000,
  insideSkill: 1000,
  unread: 5000,
  durationMs: 20_000,
};

/** Finds the skills below some roots. Stores what it reads, and reads only stale directories again. */
export class Scan {
  /** The records of earlier runs, some of them stale. */
  readonly memory: ScanMemory;
  readonly #options: ScanOptions;
  readonly #limits: ScanLimits;
  readonly #reportUnread: ReturnType<typeof reportUnread>;
  readonly #compareSkills: ReturnType<typeof compareSkills>;

  constructor(options: ScanOptions) {
    const { roots, files } = options;
    const memory = new ScanMemory(roots, options);
    this.#options = options;
    this.#limits = { ...contractLimits, ...options.limits };
    this.memory = memory;
    this.#reportUnread = reportUnread({
      ...{ files, limits: this.#limits },
      isRead: (directory) => memory.wasRead(directory),
    });
    this.#compareSkills = compareSkills(files, (directory) => memory.recall(directory)?.record);
  }

  /** Runs a scan. Must not be called while another run is unfinished. */
  *run(): Steps<ScanResult> {
    this.memory.startRun();
    const found = new FoundSoFar();
    const unread = new Map<Root, UnreadDirectory[]>();
    for (const root of this.#options.roots) {
      const directories: UnreadDirectory[] = [];
      yield* this.#withinTime(root, found, this.#visitRoot(root, found, directories));
      if (directories.length > 0) unread.set(root, directories);
    }
    // Skills are counted after all roots were read: a directory that one root ignores may be below another root.
    for (const [root, directories] of unread) {
      yield* this.#withinTime(root, found, this.#reportUnread(directories, found));
    }
    this.memory.endRun();
    const { skills, conflicts } = found;
    const contents = conflicts.size > 0 ? yield* this.#compareSkills(conflicts.values()) : undefined;
    return { skills: contents === undefined ? skills : skills.map(withContent), findings: found.findings };

    function withContent(skill: FoundSkill): FoundSkill {
      const content = contents?.get(skill.record);
      return content === undefined ? skill : { ...skill, content };
    }
  }

  /** Visits a root depth first. Adds the directories that are not read to `unread`. */
  *#visitRoot(root: Root, found: FoundSoFar, unread: UnreadDirectory[]): Steps<void> {
    this.memory.watch(root.path);
    const real = this.#resolveRoot(root, found);
    if (real === undefined) return;
    const levels: Level[] = [];
    const withLinks: { readonly record: DirectoryRecord; readonly isRoot: boolean }[] = [];
    /** Skills of which not all names were seen, or not all names are valid. */
    const doubtful = new Set<DirectoryRecord>();
    const doubt = (record?: DirectoryRecord): void => {
      for (const around of [...levels.map((level) => level.record), record]) if (around?.isSkill) doubtful.add(around);
    };
    const expectedName = path.basename(real);
    const allowance = toAllowance(root.path, false, this.#limits.directories);
    const start: Level = { record: undefined, expectedName, depth: 0, rules: [], allowance, next: 0 };
    let visit: Visit | undefined = { level: start, linked: real, path: real, expectedName };
    for (let count = 1; visit !== undefined; visit = nextVisit(levels), count++) {
      if (count % visitsBetweenPauses === 0) yield undefined;
      const { level } = visit;
      const known = this.memory.recall(visit.path);
      if (yield* this.#isLeftOut(visit, root, found, unread)) {
        doubt();
        continue;
      }
      let record = this.#read(visit, root, known);
      while (record === needsManifestReader) {
        yield loadManifestReader();
        record = this.#read(visit, root, known);
      }
      if (record === undefined) continue;
      for (const finding of [...record.unread, ...(record.isSkill ? [] : record.findings)]) found.addFinding(finding);
      if (record.isSkill) found.addSkill(record, root);
      else level.allowance.left--;
      if (record.needsWalk) doubt(record);
      if (record.dangling.length > 0 && !level.allowance.insideSkill && !record.isSkill) {
        withLinks.push({ record, isRoot: level.depth === 0 });
      }
      if (record.children.length > 0) levels.push(this.#levelBelow(record, visit));
    }
    for (const record of doubtful) yield* this.#checkNames(record, found);
    for (const { record, isRoot } of withLinks) {
      if (!this.#holdsSkills(record, isRoot && root.holdsAnything !== true)) continue;
      for (const name of record.dangling) found.addFinding(findings.danglingLink(joinPath(record.path, name)));
    }
  }

  *#isLeftOut(visit: Visit, root: Root, found: FoundSoFar, unread: UnreadDirectory[]): Steps<boolean> {
    const { level, path: directory } = visit;
    if (level.rules.length > 0 && (yield* isIgnored(visit, unread))) return true;
    const known = this.memory.recall(directory);
    if (known !== undefined && this.memory.wasMet(known, root)) return true;
    if (level.depth > this.#limits.depth && level.record !== undefined) {
      unread.push({ path: directory, parent: level.record, reason: "too-deep" });
      return true;
    }
    if (level.allowance.left <= 0) found.addFinding(findings.tooManyDirectories(level.allowance));
    return level.allowance.left <= 0;
  }

  /** Refuses a skill with a name that rules out a digest, also in directories that are not searched for skills. */
  *#checkNames(record: DirectoryRecord, found: FoundSoFar): Steps<void> {
    try {
      yield* walkSkill(this.#options.files, record.path);
    } catch (error) {
      if (!isSkillsError(error)) throw error;
      const file = record.skill?.file ?? record.path;
      if (error.facts["reason"] === invalidName) found.refuse(record, findings.invalidFileName(file, error));
    }
  }

  /**
   * Whether a dangling link in a directory stands for a skill: in a root of skills, in a directory `skills`, or next to a skill. Other
   * links, as in a project that is checked as a whole, are not reported.
   */
  #holdsSkills({ path: directory, children }: DirectoryRecord, isRootOfSkills: boolean): boolean {
    if (isRootOfSkills || path.basename(directory) === "skills") return true;
    const isSkill = (real: string): boolean => this.memory.recall(real)?.record.isSkill === true;
    return children.some(({ name, target }) => isSkill(target ?? joinPath(directory, name)));
  }

  *#withinTime(root: Root, found: FoundSoFar, steps: Steps<void>): Steps<void> {
    const { now = () => performance.now() } = this.#options;
    const { durationMs } = this.#limits;
    const isComplete = yield* withinTimeBudget(steps, now, durationMs);
    if (!isComplete) found.addFinding(findings.notReadInTime(root.path, durationMs, found.skills.length));
  }

  #read(
    { path: directory, expectedName }: Visit,
    root: Root,
    known: Known | undefined,
  ): ReturnType<typeof readDirectory> {
    if (known !== undefined && this.memory.isFresh(known, expectedName)) {
      this.memory.visit(known, root);
      return known.record;
    }
    const previous = known?.record;
    const { files, isHeld } = this.#options;
    const now = readDirectory(directory, expectedName, { files, onDirectory: (watched) => this.memory.watch(watched) });
    if (now === needsManifestReader) return now;
    const record = previous !== undefined && isHeld?.(directory, previous, now) ? previous : now;
    if (record !== undefined) this.memory.remember(record, root, known);
    return record;
  }

  #levelBelow(record: DirectoryRecord, { level, expectedName }: Visit): Level {
    const allowance = record.isSkill ? toAllowance(record.path, true, this.#limits.insideSkill) : level.allowance;
    const rules =
      record.ignored.length > 0 ? [...level.rules, { base: record.path, patterns: record.ignored }] : level.rules;
    return { record, expectedName, depth: level.depth + 1, rules, allowance, next: 0 };
  }

  /** The real path of a root. An explicit root must exist; the others may be missing. */
  #resolveRoot(root: Root, found: FoundSoFar): string | undefined {
    const { files, isHeld } = this.#options;
    try {
      const real = files.resolve(root.path);
      const before = this.memory.realRoot(root);
      if (real === undefined && before !== undefined && isHeld?.(root.path, before, undefined)) return before.path;
      this.memory.setRealRoot(root, real);
      if (real === undefined && root.origin === "explicit") found.addFinding(findings.missingRoot(root.path));
      return real;
    } catch (error) {
      found.addFinding(findings.unreadableFinding(root.path, error));
      return undefined;
    }
  }
}

function nextVisit(levels: Level[]): Visit | undefined {
  for (let level = levels.at(-1); level?.record !== undefined; level = levels.at(-1)) {
    const child = level.record.children[level.next++];
    if (child === undefined) {
      levels.pop();
      continue;
    }
    const { name, target } = child;
    const linked = joinPath(level.record.path, name);
    return { level, linked, path: target ?? linked, expectedName: isVersion(name) ? level.expectedName : name };
  }
  return undefined;
}

function* isIgnored({ level, linked, path: real }: Visit, unread: UnreadDirectory[]): Steps<boolean> {
  const rule = yield* findIgnoreRule(level.rules, linked);
  if (rule?.ofGit === true && real === linked && level.record !== undefined) {
    unread.push({ path: linked, parent: level.record, reason: "ignored" });
  }
  return rule !== undefined;
}

function toAllowance(owner: string, insideSkill: boolean, limit: number): Allowance {
  return { owner, insideSkill, limit, left: limit };
}
