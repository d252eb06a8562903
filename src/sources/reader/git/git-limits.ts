/** Limits on one repository of others. */
export const gitLimits = {
  /** Milliseconds for fetching a commit. */
  fetchMs: 120_000,
  /** Milliseconds for reading a repository that was fetched. */
  readMs: 30_000,
  /** Milliseconds for the list of its branches and tags, and for looking up its host. */
  refsMs: 20_000,
  /** Of the list of its branches and tags. */
  refsBytes: 4 * 1024 * 1024,
  /** On disk while it is fetched: what the host sends, compressed, and an index of it. */
  diskBytes: 256 * 1024 * 1024,
  /** Of an archive, packed and unpacked. */
  packedBytes: 100 * 1024 * 1024,
  unpackedBytes: 400 * 1024 * 1024,
  /** Files at a commit. */
  files: 50_000,
  /** Of the list of these files. */
  listBytes: 16 * 1024 * 1024,
  /** Contents that one read returns together. */
  readBytes: 64 * 1024 * 1024,
  /** Repositories cached at a time. */
  cached: 8,
} as const;

export type GitLimits = Readonly<Record<keyof typeof gitLimits, number>>;
