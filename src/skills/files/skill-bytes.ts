import type { SkillFiles } from "./skill-files.ts";

/** Distinguishes contents of a file without reading it. */
export interface FileStamp {
  readonly size: number;
  /** Changes whenever the file is written. Undefined where that is uncertain, as right after a write. */
  readonly version: string | undefined;
}

export interface FilePart {
  readonly bytes: Uint8Array;
  /** Of the whole file. */
  readonly size: number;
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
