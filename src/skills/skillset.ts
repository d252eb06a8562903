import { isAbsolute } from "node:path";
import type { Clock } from "../base/clock.ts";
import { type DirectoryIdentity, pinDirectory } from "../base/paths/directory-identity.ts";
import type { Log } from "../base/log.ts";
import { type Catalog, openCatalog } from "./skillset/catalog.ts";
import { diskSkillFiles } from "./files/disk-skill-files.ts";
import { nativeWatchers, type NativeWatcherOptions } from "./skillset/native-watcher.ts";
import { type RemoteRoot, type Root, sessionRoots } from "./skillset/roots.ts";

export { createProblemLog, logProblemsOf, logPublishedProblems } from "./skillset/log-problems.ts";
export { declaresSame } from "./skillset/declares-same.ts";
export { nativeWatchers, openNativeWatcher } from "./skillset/native-watcher.ts";
export type { OpenSkillWatcher } from "./skillset/watch.ts";
export { unreadPlace } from "./skillset/assemble.ts";
export { type Catalog, openCatalog } from "./skillset/catalog.ts";
export { type RemoteOrigin, type RemoteRoot, type Root, sessionRoots } from "./skillset/roots.ts";
export { loadManifestReader, needsManifestReader, readDirectory } from "./skillset/read-directory.ts";

/** Where sessions look for skills, besides their own directories. */
export interface SkillsetSettings {
  /** Absolute. */
  readonly skills: readonly string[];
  readonly defaultRoots: boolean;
  readonly home: string;
  /** Where copies of remote skills are stored. */
  readonly remote?: readonly RemoteRoot[];
  readonly clock: Clock;
  readonly log: Log;
}

export interface SessionDirectories {
  readonly cwd?: string | undefined;
  readonly additionalDirectories?: readonly string[] | undefined;
}

/** The part of a catalog that doors need. */
type SessionCatalog = Pick<Catalog, "snapshot" | "ready" | "onChange" | "find">;

/** The skills of one session. */
export interface SessionSkills {
  /** The session's own directory, absolute; undefined without one. */
  readonly directory: string | undefined;
  /** Identity of that directory when the session was opened, because the path may lead to another directory later. */
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
 * Opens catalogs that watch the disk. When the system has no file watches left, all of them share one poller, and one warning is
 * logged.
 */
export function rootsOnDisk(options: NativeWatcherOptions = {}): OpenRoots {
  const openWatcher = nativeWatchers(options);
  return (roots, { clock, log }) => openCatalog({ roots, files: diskSkillFiles(), openWatcher, clock, log });
}

/** Opens a skillset. Sessions with the same roots share one catalog, closed with the last of them. */
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
        explicit: settings.skills,
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
