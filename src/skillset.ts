import { isAbsolute } from "node:path";
import { pinDirectory } from "./base/directory-identity.ts";
import type { DirectoryIdentity } from "./base/directory-identity.ts";
import type { Settings } from "./options.ts";
import { type Catalog, openCatalog } from "./skills/catalog.ts";
import { diskSkillFiles } from "./skills/files/disk-skill-files.ts";
import { nativeWatchers, type NativeWatcherOptions } from "./skills/watch/native-watcher.ts";
import { type Root, sessionRoots } from "./skills/scan/roots.ts";

export interface SessionDirectories {
  readonly cwd?: string | undefined;
  readonly additionalDirectories?: readonly string[] | undefined;
}

/** What a catalog is to those who only look: the part of it that doors need. */
type SessionCatalog = Pick<Catalog, "snapshot" | "ready" | "onChange" | "find">;

/** The skills of one session. */
export interface SessionSkills {
  /** The session's own directory, absolute; undefined without one. */
  readonly directory: string | undefined;
  /** Which directory that was when the session was opened. */
  readonly identity?: DirectoryIdentity | undefined;
  readonly catalog: SessionCatalog;
  /** Sentences for people about directories that could not be used. */
  readonly problems: readonly string[];
  /** Releases the catalog. May be called more than once; never throws. */
  close(): void;
}

/** Joins the rooms: which skills does a session have? */
export interface Skillset {
  openSession(directories: SessionDirectories): SessionSkills;
  /** Closes every catalog, whoever still uses it. */
  close(): Promise<void>;
}

/** How a catalog over roots is opened. */
export type OpenRoots = (roots: readonly Root[], settings: Settings) => Catalog;

/** Catalogs that watch the disk; they share what they need when the system's watches run out, and say so once. */
export function rootsOnDisk(options: NativeWatcherOptions = {}): OpenRoots {
  const openWatcher = nativeWatchers(options);
  return (roots, { clock, log }) => openCatalog({ roots, files: diskSkillFiles(), openWatcher, clock, log });
}

/** Opens a skillset. Sessions with equal roots share one catalog, closed when the last of them closes. */
export function openSkillset(settings: Settings, open: OpenRoots = rootsOnDisk()): Skillset {
  const shared = new Map<string, { readonly catalog: Catalog; users: number }>();

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
