import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { Root } from "./roots.ts";
import type { SkillFiles } from "./skill-files.ts";
import type { OpenSkillWatcher } from "./skill-watcher.ts";
import type { Change, OfferedSkill, Snapshot } from "./skill.ts";

/** Told after the snapshot was replaced. `change` names no skill when only problems differ. Must not throw. */
export type CatalogListener = (snapshot: Snapshot, change: Change) => void;

/** Which skills there are, now. Never throws for what it finds on disk: that is in `snapshot.problems`. */
export interface Catalog {
  /** Empty until the roots were read for the first time; replaced whole, never changed. */
  readonly snapshot: Snapshot;
  /** Resolves with the first snapshot; never rejects. */
  readonly ready: Promise<Snapshot>;
  /** Reads everything anew, and resolves with the snapshot that counts then. */
  reload(): Promise<Snapshot>;
  /** Calls back once for each difference after the first snapshot; the returned function ends that. */
  onChange(listener: CatalogListener): () => void;
  /** By slug or by canonical name (C-1.2). */
  find(nameOrSlug: string): OfferedSkill | undefined;
  /** Ends watching; the last snapshot stays readable. */
  close(): Promise<void>;
}

export interface CatalogOptions {
  /** Most important first. */
  readonly roots: readonly Root[];
  readonly files: SkillFiles;
  /** Without one, the catalog changes only by `reload()`. */
  readonly openWatcher?: OpenSkillWatcher;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds of reading at a stretch before other work gets its turn; Infinity for a one-shot listing. */
  readonly slice?: number;
}

const nothing: Snapshot = Object.freeze({ skills: [], problems: [] });

/** Opens a catalog over `roots` and starts to read them. */
export function openCatalog(options: CatalogOptions): Catalog {
  void options;
  return {
    snapshot: nothing,
    ready: Promise.resolve(nothing),
    reload: () => Promise.resolve(nothing),
    onChange: () => () => undefined,
    find: () => undefined,
    close: () => Promise.resolve(),
  };
}
