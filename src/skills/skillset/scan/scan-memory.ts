import path from "node:path";
import { joinPath } from "../../../base/paths/at-real-path.ts";
import type { Finding } from "../../rules.ts";
import type { DirectoryRecord } from "../read-directory.ts";
import type { Root } from "../roots.ts";
import type { ScanOptions } from "../scan.ts";

/** A directory with a SKILL.md, and the roots under which it was found, in order of precedence. */
export interface FoundSkill {
  readonly record: DirectoryRecord;
  readonly roots: readonly Root[];
  /** A text that is equal for copies; absent if no other skill with its slug has the same SKILL.md. */
  readonly content?: string | undefined;
}

/** The result of a scan below some roots, in order of precedence: by root, then by path. */
export interface ScanResult {
  readonly skills: readonly FoundSkill[];
  /** The findings that are not in the records of the skills. */
  readonly findings: readonly Finding[];
}

/** The stored record of a directory. */
export interface Known {
  record: DirectoryRecord;
  stale: boolean;
  /** The run and the root that visited the directory last. */
  run: number;
  root: Root;
}

type ScanMemoryEvents = Pick<ScanOptions, "onDirectory" | "onForgotten">;

/** The state between runs of a scan: the records of directories, which of them are stale, and the watched paths. */
export class ScanMemory {
  readonly #roots: readonly Root[];
  readonly #events: ScanMemoryEvents;
  readonly #known = new Map<string, Known>();
  readonly #realRoots = new Map<Root, string>();
  /** The watched directories, each with the run that requested it last. */
  readonly #watched = new Map<string, number>();
  /** The directories that depend on a path outside, by that path. During a run, also those of the previous run. */
  readonly #dependents = new Map<string, Set<string>>();
  #run = 0;

  constructor(roots: readonly Root[], events: ScanMemoryEvents) {
    this.#roots = roots;
    this.#events = events;
  }

  get directories(): number {
    return this.#known.size;
  }

  startRun(): void {
    this.#run++;
  }

  /** Ends a run, and removes all directories that the run did not visit. */
  endRun(): void {
    this.#dependents.clear();
    for (const [directory, { run, record }] of this.#known) {
      if (run === this.#run) this.#noteDependence(record);
      else this.#known.delete(directory);
    }
    for (const [directory, run] of this.#watched) {
      if (run === this.#run || this.#known.has(directory)) continue;
      this.#watched.delete(directory);
      this.#events.onForgotten?.(directory);
    }
  }

  /** The stored record of a directory, stale or not. */
  recall(directory: string): Known | undefined {
    return this.#known.get(directory);
  }

  /** Whether this run already visited the directory under this root. */
  wasMet(entry: Known, root: Root): boolean {
    return entry.run === this.#run && entry.root === root;
  }

  /** Whether this run visited the directory under any root. */
  wasRead(directory: string): boolean {
    return this.#known.get(directory)?.run === this.#run;
  }

  /** Whether a directory need not be read again. */
  isFresh(entry: Known, expectedName: string): boolean {
    return entry.run === this.#run || (!entry.stale && entry.record.expectedName === expectedName);
  }

  /** Stores a fresh record of a directory that was visited under this root. `entry` is the previous record. */
  remember(record: DirectoryRecord, root: Root, entry: Known | undefined): void {
    const run = this.#run;
    if (entry === undefined) this.#known.set(record.path, { record, stale: false, run, root });
    else Object.assign(entry, { record, stale: false, run, root });
    this.#noteDependence(record);
  }

  /** Notes that a directory with a fresh record was visited under this root. */
  visit(entry: Known, root: Root): void {
    entry.run = this.#run;
    entry.root = root;
  }

  watch(directory: string): void {
    if (this.#events.onDirectory === undefined) return;
    this.#watched.set(directory, this.#run);
    this.#events.onDirectory(directory);
  }

  /** The record of the directory to which a root resolved last. */
  realRoot(root: Root): DirectoryRecord | undefined {
    const real = this.#realRoots.get(root);
    return real === undefined ? undefined : this.#known.get(real)?.record;
  }

  setRealRoot(root: Root, real: string | undefined): void {
    if (real === undefined) this.#realRoots.delete(root);
    else this.#realRoots.set(root, real);
  }

  markAllStale(): void {
    for (const entry of this.#known.values()) entry.stale = true;
  }

  /** Marks one directory as stale. False if nothing that was found depends on it. */
  markDirectoryStale(directory: string): boolean {
    let concerns = false;
    for (const affected of [directory, ...(this.#dependents.get(directory) ?? [])]) {
      const entry = this.#known.get(affected);
      if (entry !== undefined) entry.stale = concerns = true;
    }
    return concerns;
  }

  /**
   * Handles a change in a directory: of `name` and everything below it or, without a name, of all its content. False if nothing that was
   * found depends on it.
   */
  markStale(directory: string, name?: string): boolean {
    const ofRoots = this.#roots.filter((root) => root.path === directory);
    let concerns = this.markDirectoryStale(directory) || ofRoots.length > 0;
    for (const root of ofRoots) this.markDirectoryStale(this.#realRoots.get(root) ?? root.path);
    if (name !== undefined) {
      const target = joinPath(directory, name);
      this.#markTree(target);
      concerns ||= this.#roots.some((root) => root.path === target);
      return this.markDirectoryStale(target) || concerns;
    }
    this.#markTree(directory);
    for (const root of ofRoots) this.#markTree(this.#realRoots.get(root) ?? root.path);
    for (const target of this.#dependents.keys()) {
      if (path.dirname(target) === directory) concerns = this.markDirectoryStale(target) || concerns;
    }
    return concerns;
  }

  #markTree(directory: string): void {
    const entry = this.#known.get(directory);
    if (entry === undefined) return;
    entry.stale = true;
    for (const { name, target } of entry.record.children) {
      if (target === undefined) this.#markTree(joinPath(directory, name));
    }
  }

  #noteDependence({ path: directory, elsewhere }: DirectoryRecord): void {
    for (const { target, watch } of elsewhere) {
      if (this.#events.onDirectory !== undefined) this.#watched.set(watch, this.#run);
      const directories = this.#dependents.get(target) ?? new Set();
      this.#dependents.set(target, directories.add(directory));
    }
  }
}

/** The unfinished result of a scan. Duplicates count once. */
export class FoundSoFar {
  /** The skills by the identity of their directory. */
  readonly #skills = new Map<string, FoundSkill>();
  /** One list per root, shared by all skills that only this root contains. */
  readonly #alone = new Map<Root, readonly Root[]>();
  /** The first skill of each slug. */
  readonly #firsts = new Map<string, DirectoryRecord>();
  readonly #findings = new Map<string, Finding>();
  readonly #refused = new Map<DirectoryRecord, Finding>();
  /** All skills of each slug that several skills have, by the first of them. */
  readonly conflicts = new Map<DirectoryRecord, DirectoryRecord[]>();

  get skills(): FoundSkill[] {
    return Array.from(this.#skills.values(), (found) => {
      const finding = this.#refused.get(found.record);
      if (finding === undefined) return found;
      return { ...found, record: { ...found.record, skill: undefined, findings: [...found.record.findings, finding] } };
    });
  }

  get findings(): Finding[] {
    return [...this.#findings.values()];
  }

  addSkill(record: DirectoryRecord, root: Root): void {
    const found = this.#skills.get(record.identity);
    if (found !== undefined) {
      if (found.roots.includes(root)) return;
      this.#skills.set(record.identity, { record: found.record, roots: [...found.roots, root] });
      return;
    }
    const roots = this.#alone.get(root) ?? [root];
    this.#alone.set(root, roots);
    this.#skills.set(record.identity, { record, roots });
    if (record.skill === undefined) return;
    const first = this.#firsts.get(record.skill.slug);
    if (first === undefined) this.#firsts.set(record.skill.slug, record);
    else {
      const conflicting = this.conflicts.get(first) ?? [first];
      this.conflicts.set(first, conflicting);
      conflicting.push(record);
    }
  }

  /** Records that the skill of a directory is not offered. */
  refuse(record: DirectoryRecord, finding: Finding): void {
    this.#refused.set(record, finding);
  }

  addFinding(finding: Finding | undefined): void {
    if (finding !== undefined) this.#findings.set(`${finding.code} ${finding.file}`, finding);
  }
}
