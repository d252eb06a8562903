/** What a directory holds under one name. Links are resolved: `kind` says what they lead to. */
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
 * The port through which skills are read. Its verbs are synchronous on purpose: over 10,000 small files, asynchronous reads
 * cost three times as much; the catalog slices its work so that nothing else waits for more than a few milliseconds.
 * Every verb throws a `SkillsError` with code UNREADABLE, and a message for people, when the disk says no.
 */
export interface SkillFiles {
  /** The entries of a directory, in no particular order. */
  list(directory: string): readonly Entry[];
  /** At most `limit` bytes from the start. Regular files only: never blocks on a FIFO or a device. */
  head(file: string, limit: number): Head;
  /** The real absolute path; undefined where nothing is there. */
  resolve(path: string): string | undefined;
}
