export { directoryName } from "../skills/files.ts";

/** Which of the two lock files of the `skills` package. */
export type LockForm = "project" | "global";

/** A skill that was installed, as its lock says. Written by us or by the `skills` package, whose keys these are unless marked "ours". */
export interface LockEntry {
  /** `owner/repo`, the URL of a repository, a host, or a path. */
  readonly source: string;
  readonly sourceType: string;
  readonly sourceUrl?: string;
  /** A branch, tag or commit, as a person typed it. */
  readonly ref?: string;
  /** Of SKILL.md in a repository. */
  readonly skillPath?: string;
  /** See `computedHash`; of a project's lock only. */
  readonly computedHash?: string;
  /** Of a global lock only: the id of a git tree, the same as `computedHash`, or empty. */
  readonly skillFolderHash?: string;
  /** Of a global lock only: the URL that a person typed. */
  readonly sourceBaseUrl?: string;
  readonly wellKnownDigest?: string;
  /** ISO 8601; of a global lock only. */
  readonly installedAt?: string;
  readonly updatedAt?: string;
  readonly version?: string;
  /** Ours: the full id of the commit. */
  readonly commit?: string;
  /** Ours: of the skill, as `describe_skill` gives it. */
  readonly digest?: string;
  /** Ours: as the source names it, where that is not the entry's key. */
  readonly name?: string;
  /** Ours: the sha256 of each file, in hexadecimal; absent for a skill of many files. */
  readonly files?: Readonly<Record<string, string>>;
}

/** What a lock file says. Immutable. */
export interface Lock {
  readonly form: LockForm;
  /** In the order of the file. */
  readonly entries: ReadonlyMap<string, LockEntry>;
  /** The text of every value that is to be written as it was read. */
  readonly preserved: PreservedText;
}

interface PreservedText {
  /** Keys of the file besides `version` and `skills`. */
  readonly top: readonly PreservedKey[];
  readonly entries: ReadonlyMap<string, { readonly text: string; readonly unknown: readonly PreservedKey[] }>;
}

export type PreservedKey = readonly [key: string, text: string];

/** Of a skill with more, no digests of files are locked. */
export const maxLockedFiles = 200;

export function emptyLock(form: LockForm): Lock {
  return { form, entries: new Map(), preserved: { top: [], entries: new Map() } };
}

/** The lock with an entry added or replaced. Keys that are not ours are preserved. */
export function withEntry(lock: Lock, key: string, entry: LockEntry): Lock {
  const { text, unknown = [] } = lock.preserved.entries.get(key) ?? {};
  const entries = new Map(lock.entries).set(key, entry);
  const preserved = new Map(lock.preserved.entries);
  if (text !== undefined) preserved.set(key, { text: "", unknown });
  return { ...lock, entries, preserved: { ...lock.preserved, entries: preserved } };
}

export function withoutEntry(lock: Lock, key: string): Lock {
  const entries = new Map(lock.entries);
  const preserved = new Map(lock.preserved.entries);
  entries.delete(key);
  preserved.delete(key);
  return { ...lock, entries, preserved: { ...lock.preserved, entries: preserved } };
}
