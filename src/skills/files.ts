export { directoryName, installedFrom } from "./files/installed-from.ts";
export { diskSkillBytes, diskSkillFiles } from "./files/disk-skill-files.ts";
export { toMimeType } from "./files/mime-type.ts";

/** A directory entry. Links are resolved: `kind` is that of their target. */
export interface DirectoryEntry {
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
  list(directory: string): readonly DirectoryEntry[];
  /** At most `limit` bytes from the start. Regular files only: never blocks on a FIFO or a device. */
  head(file: string, limit: number): Head;
  /** The real absolute path; undefined if nothing exists there. */
  resolve(target: string): string | undefined;
}

/** Distinguishes contents of a file without reading it. */
export interface FileStamp {
  readonly size: number;
  /** Changes whenever the file is written. Undefined where that is uncertain, as right after a write. */
  readonly version: string | undefined;
}

/** With the stamp of the whole file when it was opened. */
export interface FilePart extends FileStamp {
  readonly bytes: Uint8Array;
}

/**
 * The port to the bytes of a skill's files. Paths are real paths. Regular files only: anything else, and a missing file, is
 * undefined; nothing blocks on a FIFO. Throws UNREADABLE if the disk refuses.
 */
export interface SkillBytes {
  stamp(file: string): FileStamp | undefined;
  /** At most `limit` bytes from the start. */
  head(file: string, limit: number): FilePart | undefined;
  /** Lower-case hexadecimal. Reads a large file in chunks and stops between them when `signal` is aborted. */
  sha256(file: string, signal: AbortSignal): string | undefined | Promise<string | undefined>;
}

/** Where skills are read from. */
export interface SkillSource {
  readonly files: SkillFiles;
  readonly bytes: SkillBytes;
}
