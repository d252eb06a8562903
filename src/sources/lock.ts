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
  /** In the order of the file, with keys that we do not know. */
  readonly entries: ReadonlyMap<string, LockEntry>;
  /** Keys of the file besides `version` and `skills`. */
  readonly others: Readonly<Record<string, unknown>>;
}

/** The keys that we know, in the order in which the `skills` package writes them; then ours. */
export const lockKeys: Readonly<Record<LockForm, readonly (keyof LockEntry)[]>> = {
  project: [
    ...(["source", "sourceUrl", "ref", "sourceType", "skillPath", "computedHash", "wellKnownDigest"] as const),
    ...(["version", "commit", "digest", "name", "files"] as const),
  ],
  global: [
    ...(["source", "sourceType", "sourceUrl", "ref", "skillPath", "skillFolderHash", "sourceBaseUrl"] as const),
    ...(["wellKnownDigest", "installedAt", "updatedAt", "version", "commit", "digest", "name", "files"] as const),
  ],
};

/** Of a skill with more, no digests of files are locked. */
export const maxLockedFiles = 200;

export function emptyLock(form: LockForm): Lock {
  return { form, entries: new Map(), others: {} };
}

/** The lock with an entry added or replaced. Keys that are not ours are preserved. */
export function withEntry(lock: Lock, key: string, entry: LockEntry): Lock {
  const known: readonly string[] = lockKeys[lock.form];
  const unknown = Object.entries(lock.entries.get(key) ?? {}).filter(([name]) => !known.includes(name));
  const merged = Object.fromEntries([...Object.entries(knownOf(lock.form, entry)), ...unknown]);
  return { ...lock, entries: new Map(lock.entries).set(key, merged as unknown as LockEntry) };
}

/** What an entry says by the keys that we know, in their order. */
export function knownOf(form: LockForm, entry: LockEntry): Partial<LockEntry> {
  const { files } = entry;
  const sorted = files && Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));
  const all = { ...entry, files: sorted };
  return Object.fromEntries(lockKeys[form].flatMap((key) => (all[key] === undefined ? [] : [[key, all[key]]])));
}

export function withoutEntry(lock: Lock, key: string): Lock {
  return { ...lock, entries: new Map([...lock.entries].filter(([name]) => name !== key)) };
}
