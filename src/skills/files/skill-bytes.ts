/** What tells one content of a file from another without reading it. */
export interface FileStamp {
  readonly size: number;
  /** Differs whenever the file was written in between. Undefined where that cannot be told, as just after a write. */
  readonly version: string | undefined;
}

export interface FilePart {
  readonly bytes: Uint8Array;
  /** Of the whole file. */
  readonly size: number;
}

/**
 * The port to the bytes of a skill's files. Paths are real paths. Regular files only: what is anything else, or not there, is
 * undefined, and nothing ever blocks on a FIFO. Throws UNREADABLE where the disk says no.
 */
export interface SkillBytes {
  stamp(file: string): FileStamp | undefined;
  /** At most `limit` bytes from the start. */
  head(file: string, limit: number): FilePart | undefined;
  /** Lower-case hexadecimal. Reads a large file in pieces, and gives up between them when `signal` says so. */
  sha256(file: string, signal: AbortSignal): string | undefined | Promise<string | undefined>;
}
