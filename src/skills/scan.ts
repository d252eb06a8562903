import path from "node:path";
import { danglingLink, missingRoot, tooDeep, tooManyDirectories, unreadable } from "./disk-findings.ts";
import { nothingFound } from "./found.ts";
import type { Found, FoundSoFar } from "./found.ts";
import { isIgnored, noIgnoreRules, withIgnoreRules } from "./ignored.ts";
import type { IgnoreRules } from "./ignored.ts";
import { readDirectory } from "./read-directory.ts";
import type { DirectoryRecord } from "./read-directory.ts";
import { loadManifestReader, needsManifestReader } from "./read-skill-file.ts";
import { joinPath } from "./real-paths.ts";
import type { Root } from "./roots.ts";
import { openScanMemory } from "./scan-memory.ts";
import type { SkillFiles } from "./skill-files.ts";
import { isVersion } from "./skill-version.ts";
import type { Steps } from "./slices.ts";

/** The bounds of C-1.6. */
interface ScanLimits {
  /** How many directories below its root a skill may lie. */
  readonly depth: number;
  /** Directories without a skill, in one root. */
  readonly directories: number;
  /** The same, inside one skill. */
  readonly insideSkill: number;
}

export interface ScanOptions {
  readonly roots: readonly Root[];
  readonly files: SkillFiles;
  readonly limits?: ScanLimits;
  /** Called before a directory is read. */
  readonly onDirectory?: (directory: string) => void;
  /** Called for each directory that does not matter any more. */
  readonly onForgotten?: (directory: string) => void;
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
const contractLimits: ScanLimits = { depth: 6, directories: 20_000, insideSkill: 1000 };

/** A directory still to be visited. */
interface Visit {
  readonly path: string;
  /** As its skill should be called. */
  readonly expectedName: string;
  readonly depth: number;
  readonly rules: IgnoreRules;
  readonly allowance: Allowance;
}

/** How many more directories without a skill may be read below `owner`. */
interface Allowance {
  readonly owner: string;
  readonly insideSkill: boolean;
  readonly limit: number;
  left: number;
}

export function openScan(options: ScanOptions): Scan {
  const { roots, files, limits = contractLimits, isHeld } = options;
  const memory = openScanMemory(roots, options);
  const onDirectory = options.onDirectory && ((directory: string): void => memory.watch(directory));

  function* visitRoot(root: Root, found: FoundSoFar): Steps<void> {
    memory.watch(root.path);
    const real = resolveRoot(root, found);
    if (real === undefined) return;
    const allowance = newAllowance(root.path, false, limits.directories);
    const visits: Visit[] = [
      { path: real, expectedName: path.basename(real), depth: 0, rules: noIgnoreRules, allowance },
    ];
    let count = 0;
    for (let visit = visits.pop(); visit !== undefined; visit = visits.pop()) {
      if (++count % visitsBetweenPauses === 0) yield undefined;
      if (memory.wasMet(visit.path, root)) continue;
      if (visit.depth > limits.depth) found.addFinding(tooDeep(files, visit.path, limits.depth));
      else if (visit.allowance.left <= 0) found.addFinding(tooManyDirectories(visit.allowance));
      else {
        const record = memory.fresh(visit.path, visit.expectedName) ?? (yield* readAnew(visit));
        if (record === undefined) continue;
        memory.meet(record, root);
        collect(record, root, visit, found);
        if (record.children.length > 0) yield* visitChildren(record, visit, visits);
      }
    }
  }

  function* readAnew({ path: directory, expectedName }: Visit): Steps<DirectoryRecord | undefined> {
    const previous = memory.recall(directory);
    let now = readDirectory(directory, expectedName, { files, onDirectory, previous });
    if (now === needsManifestReader) {
      yield loadManifestReader();
      now = readDirectory(directory, expectedName, { files, onDirectory, previous });
    }
    if (now === needsManifestReader) throw new Error("the reader of skill.toml was not loaded");
    const record = previous !== undefined && isHeld?.(directory, previous, now) ? previous : now;
    if (record !== undefined) memory.remember(record);
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

  function* visitChildren(record: DirectoryRecord, visit: Visit, visits: Visit[]): Steps<void> {
    const allowance = record.isSkill ? newAllowance(record.path, true, limits.insideSkill) : visit.allowance;
    let { rules } = visit;
    if (record.ignoreText !== "") rules = yield* withIgnoreRules(rules, record.path, record.ignoreText);
    for (let index = record.children.length - 1; index >= 0; index--) {
      const { name, target } = record.children[index] ?? { name: "", target: undefined };
      const child = joinPath(record.path, name);
      if (rules.length > 0 && isIgnored(rules, child)) continue;
      const expectedName = isVersion(name) ? visit.expectedName : name;
      visits.push({ path: target ?? child, expectedName, depth: visit.depth + 1, rules, allowance });
    }
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
      for (const root of roots) yield* visitRoot(root, found);
      memory.endRun();
      return { skills: found.skills, findings: found.findings };
    },
    markAllStale: () => memory.markAllStale(),
    markDirectoryStale: (directory) => void memory.markDirectoryStale(directory),
    markStale: (directory, name) => memory.markStale(directory, name),
  };
}

function newAllowance(owner: string, insideSkill: boolean, limit: number): Allowance {
  return { owner, insideSkill, limit, left: limit };
}
