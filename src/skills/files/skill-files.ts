import path from "node:path";

/** A directory entry. Links are resolved: `kind` is that of their target. */
export interface Entry {
  readonly name: string;
  readonly kind: "file" | "directory" | "other" | "dangling";
  readonly link: boolean;
}

/** The first bytes of a file. */
export interface Head {
  readonly bytes: Uint8Array;
  /** True when `bytes` is the whole file. */
  readonly whole: boolean;
}

/**
 * The port through which skills are read. Synchronous on purpose: over 10,000 small files, asynchronous reads cost three times as
 * much; the catalog slices its work so that other work waits for a few milliseconds at most. Every method throws a `SkillsError`
 * with code UNREADABLE and a message for users if the disk refuses.
 */
export interface SkillFiles {
  /** The entries of a directory, in no particular order. */
  list(directory: string): readonly Entry[];
  /** At most `limit` bytes from the start. Regular files only: never blocks on a FIFO or a device. */
  head(file: string, limit: number): Head;
  /** The real absolute path; undefined if nothing exists there. */
  resolve(target: string): string | undefined;
}

/** Faster than `path.join`, for a name that needs no normalisation. */
export function joinPath(directory: string, name: string): string {
  return directory.endsWith(path.sep) ? directory + name : directory + path.sep + name;
}
