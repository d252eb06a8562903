/** What a caller learns about a blob. Immutable: an id means these bytes for as long as it exists (CONTRACT C-4.1). */
export interface StoredBlob {
  readonly id: string;
  /** Bytes. */
  readonly size: number;
  /** `type/subtype[;params]`, as given. */
  readonly kind: string;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

/** A part of a blob, in bytes. What lies beyond the end is left out, silently. */
export interface BlobRange {
  /** Default 0. */
  readonly offset?: number;
  /** Default: up to the end. */
  readonly length?: number;
}

/**
 * The port to bytes too big for a message. Every verb names the owner; another owner's blob behaves exactly as an absent one.
 * Throws `SkillsError`: BLOB_NOT_FOUND, BLOB_TOO_LARGE, QUOTA_EXCEEDED (`facts.limit` says which, `disk` where the place
 * itself cannot be used), RUNTIME_BUSY, VALIDATION_ERROR, CLOSED, or INTERNAL. None names a path.
 */
export interface BlobStore {
  /**
   * Keeps the content, whole or not at all. Bytes must stay as they are until the promise settles; a stream may use a chunk's memory
   * again once it is asked for the next. What it throws, and the reason of `signal`, looked at between chunks, pass through unchanged.
   */
  put(
    owner: string,
    kind: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options?: { readonly signal?: AbortSignal },
  ): Promise<StoredBlob>;
  stat(owner: string, id: string): Promise<StoredBlob>;
  /**
   * Streams a range. Every byte belongs to a blob whose digest was right; a damaged one throws INTERNAL. Nothing is opened before the
   * first chunk is asked for; from then on the range is read to its end, whatever is removed meanwhile.
   */
  read(owner: string, id: string, range?: BlobRange): AsyncIterable<Uint8Array>;
  /** Marks a blob as in use: no sweep removes it before the returned function is called or this process ends. Its owner still may. */
  hold(owner: string, id: string): Promise<ReleaseBlob>;
  /** Forgets a blob at once, also a held one. */
  remove(owner: string, id: string): Promise<void>;
}

/** Ends a hold; more than one call does no harm. */
export type ReleaseBlob = () => Promise<void>;

/** A blob as the keeper of a store sees it, whoever owns it. Times are milliseconds since 1970. */
export interface ListedBlob extends StoredBlob {
  readonly owner: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface Swept {
  readonly removed: number;
  readonly freedBytes: number;
  /** Expired, but spared because somebody holds them. */
  readonly held: number;
}

/** What the keeper of a store does; not for those who use blobs. */
export interface BlobUpkeep {
  /** In no particular order; blobs that come or go meanwhile may or may not be among them. */
  list(): AsyncIterable<ListedBlob>;
  /** Removes what has expired and nobody holds, and what crashed processes left behind. Expired blobs can be read until then. */
  sweep(): Promise<Swept>;
  /** Releases every hold. Afterwards every verb throws CLOSED. */
  close(): Promise<void>;
}
