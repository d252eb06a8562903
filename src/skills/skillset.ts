import { basename, isAbsolute } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../base/clock.ts";
import { type DirectoryIdentity, pinDirectory } from "../base/paths/identity.ts";
import { type Log, createOnceLog } from "../base/log.ts";
import { Catalog } from "./skillset/catalog.ts";
import { diskSkillFiles } from "./files/disk-skill-files.ts";
import { type NativeWatcherOptions, nativeWatchers } from "./skillset/native-watcher.ts";
import { type RemoteRoot, type Root, sessionRoots } from "./skillset/roots.ts";
import { hasSourceOf } from "./manifest.ts";
import { memorySkillSource } from "./files/memory-skill-files.ts";
import { permissionsOf } from "./permissions.ts";
import type { Skill } from "./skill.ts";
import { loadManifestReader, manifestName, needsManifestReader, readDirectory } from "./skillset/read-directory.ts";
import type { Problem } from "./rules/problem.ts";
import { isRule, severityAt } from "./rules.ts";

export { nativeWatchers, openNativeWatcher } from "./skillset/native-watcher.ts";
export { unreadDirectory } from "./skillset/assemble.ts";
export { Catalog, type CatalogReader } from "./skillset/catalog.ts";
export { type RemoteOrigin, type RemoteRoot, type Root, sessionRoots } from "./skillset/roots.ts";
export { loadManifestReader, needsManifestReader, readDirectory } from "./skillset/read-directory.ts";

/** The directories in which sessions search for skills, besides their own directories. */
interface SkillsetSettings {
  /** Absolute. */
  readonly directories: readonly string[];
  readonly defaultRoots: boolean;
  readonly home: string;
  /** The roots with copies of remote skills. */
  readonly remote?: readonly RemoteRoot[];
  readonly clock: Clock;
  readonly log: Log;
}

export interface SessionDirectories {
  readonly cwd?: string | undefined;
  readonly additionalDirectories?: readonly string[] | undefined;
}

/** The methods of a catalog that sessions need. */
export type SessionCatalog = Pick<Catalog, "snapshot" | "ready" | "onChange" | "find">;

/** The skills of one session. */
export interface SessionSkills {
  /** The session's own directory, absolute; undefined without one. */
  readonly directory: string | undefined;
  /** The identity of the session's directory when the session was opened, because its path may lead to another directory later. */
  readonly identity?: DirectoryIdentity | undefined;
  readonly catalog: SessionCatalog;
  /** One sentence for each directory that could not be used. */
  readonly problems: readonly string[];
  /** Releases the catalog. Idempotent; never throws. */
  close(): void;
}

/** The skills of every session. */
export interface Skillset {
  openSession(directories: SessionDirectories): SessionSkills;
  /** Closes every catalog, even those still in use. */
  close(): Promise<void>;
}

type OpenedCatalog = SessionCatalog & Pick<Catalog, "close">;
export type OpenRoots = (roots: readonly Root[], settings: SkillsetSettings) => OpenedCatalog;

/**
 * Returns a function that opens catalogs that watch the disk. If the system has no file watches left, they all share one poller, and one
 * warning is logged.
 */
export function rootsOnDisk(options: NativeWatcherOptions = {}): OpenRoots {
  const openWatcher = nativeWatchers(options);
  return (roots, { clock, log }) => new Catalog({ roots, files: diskSkillFiles(), openWatcher, clock, log });
}

/** Opens a skillset. Sessions with the same roots share one catalog, which is closed with the last of them. */
export function openSkillset(settings: SkillsetSettings, open: OpenRoots = rootsOnDisk()): Skillset {
  const shared = new Map<string, { readonly catalog: OpenedCatalog; users: number }>();

  function release(key: string): void {
    const entry = shared.get(key);
    if (entry === undefined || --entry.users > 0) return;
    shared.delete(key);
    entry.catalog
      .close()
      .catch((error: unknown) => settings.log("error", `Closing a catalog failed: ${String(error)}`));
  }

  return {
    openSession({ cwd, additionalDirectories = [] }) {
      const { roots, problems } = sessionRoots({
        explicit: settings.directories,
        cwd,
        additionalDirectories,
        home: settings.home,
        useDefaults: settings.defaultRoots,
        ...(settings.remote !== undefined && { remote: settings.remote }),
      });
      const key = JSON.stringify(roots.map(({ path, origin }) => [path, origin]));
      const entry = shared.get(key) ?? { catalog: open(roots, settings), users: 0 };
      entry.users += 1;
      shared.set(key, entry);
      let isOpen = true;
      const directory = cwd !== undefined && isAbsolute(cwd) ? cwd : undefined;
      const pinned = directory === undefined ? undefined : pinDirectory(directory);
      return {
        directory,
        identity: pinned?.identity,
        catalog: entry.catalog,
        problems,
        close() {
          if (!isOpen) return;
          isOpen = false;
          pinned?.release();
          release(key);
        },
      };
    },
    async close() {
      const catalogs = [...shared.values()];
      shared.clear();
      await Promise.all(catalogs.map(({ catalog }) => catalog.close()));
    },
  };
}

/** Returns the content of a file of a skill, by its path in the skill; undefined for a file that is not the skill's own. */
type ReadFile = (path: string) => Uint8Array | undefined;

/**
 * Whether a skill that was read earlier declares the same as these files: its manifest, permissions and allowed tools. False if its
 * declarations are not in its own files, but behind a link to other files.
 */
export async function declaresSame(skill: Skill, read: ReadFile): Promise<boolean> {
  const { directory, file, slug } = skill;
  const files = [basename(file), manifestName].flatMap((path) => {
    const bytes = read(path);
    return bytes === undefined ? [] : [{ path, bytes }];
  });
  const [main] = files;
  if (main?.path !== basename(file)) return false;
  // Without a manifest, only frontmatter is read.
  if (files.length === 1 && hasSourceOf(skill, main.bytes)) return true;
  if (files.length > 1) await loadManifestReader();
  const record = readDirectory(directory, slug, memorySkillSource(directory, files));
  const now = record === needsManifestReader ? undefined : record?.skill;
  return now !== undefined && isDeepStrictEqual(declarationOf(now), declarationOf(skill));
}

function declarationOf(skill: Skill): unknown {
  return [skill.manifest, permissionsOf(skill), skill.allowedTools];
}

/** Maximum number of lines at a time, so that a directory full of invalid skills does not flood the log. */
const lineLimit = 20;
const rememberedLimit = 10_000;

/**
 * Returns a function that logs each problem once: as a warning if something is not offered, else as info. Sorted by severity, with
 * unreadable directories first.
 */
export function createProblemLog(log: Log): (problems: readonly Problem[]) => void {
  const { isNew } = createOnceLog(log, { limit: rememberedLimit });
  let before: readonly Problem[] = [];
  return (problems) => {
    if (problems === before) return;
    before = problems;
    const news = problems.filter(({ code, file, message }) => isNew(`${code} ${file} ${message}`));
    news.sort((a, b) => rank(a) - rank(b));
    for (const problem of news.slice(0, lineLimit)) log(toLevel(problem), toLine(problem));
    const [next] = news.slice(lineLimit);
    if (next !== undefined) log(toLevel(next), `… and ${news.length - lineLimit} more; see acp-skills check.`);
  };
}

/** Logs the problems of the skills of one session, now and after each change. */
export function logProblemsOf(
  { catalog, problems }: { readonly catalog: WatchedSkills; readonly problems: readonly string[] },
  log: Log,
): void {
  for (const problem of problems) log("warning", problem);
  const logProblems = createProblemLog(log);
  const report = (): void => logProblems(catalog.snapshot.problems);
  catalog.onChange(report);
  catalog.ready.then(report, (error: unknown) => log("warning", `Skills cannot be read: ${String(error)}`));
}

/**
 * Logs problems for a server that publishes skills: a line for each skill that is not offered. Also logs one line for the skills that are
 * offered here, but that readers skip if they refuse violations of the specification.
 */
export function logPublishedProblems(session: Parameters<typeof logProblemsOf>[0], log: Log): void {
  logProblemsOf(session, (level, message) => {
    if (level !== "info") log(level, message);
  });
  void session.catalog.ready.then(({ skills }) => {
    const isSkipped = ({ code }: Problem): boolean => isRule(code) && severityAt(code, "agents") === "error";
    const count = skills.filter(({ problems }) => problems.some(isSkipped)).length;
    if (count > 0)
      log("info", `Stricter readers will skip ${count} of ${skills.length} skills; acp-skills check says why.`);
  });
}

type WatchedSkills = Pick<Catalog, "snapshot" | "ready" | "onChange">;

function rank({ code, severity }: Problem): number {
  return severity === "note" ? 3 : severity === "warning" ? 2 : code === "unreadable" ? 0 : 1;
}

function toLevel({ severity }: Problem): "warning" | "info" {
  return severity === "error" ? "warning" : "info";
}

function toLine({ code, file, line, column, message, fix }: Problem): string {
  return `${file}:${line}:${column} ${code}: ${message}. ${fix}`;
}
