import type { blobDefaults } from "./blobs/blob-rules.ts";

export { diskBlobs } from "./blobs/disk-blobs.ts";
export {
  blobNotFound,
  blobTooLarge,
  checkKind,
  isBlobId,
  newBlobId,
  quotaRefusal,
  storeClosed,
  withBlobDefaults,
  withinBlob,
} from "./blobs/blob-rules.ts";

/** The metadata of a blob. Immutable: an id refers to the same bytes as long as it exists. */
export interface StoredBlob {
  readonly id: string;
  /** In bytes. */
  readonly size: number;
  /** `type/subtype[;params]`, as given. */
  readonly kind: string;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

/** A range of a blob, in bytes. A range beyond the end is clamped without an error. */
export interface BlobRange {
  /** Default 0. */
  readonly offset?: number;
  /** Default: to the end. */
  readonly length?: number;
}

/**
 * The port to content that is too large for a message. Every method takes the owner; another owner's blob behaves like a missing one.
 * Throws `SkillsError`: BLOB_NOT_FOUND, BLOB_TOO_LARGE, QUOTA_EXCEEDED (`facts.limit` is the limit, `disk` if the storage
 * itself is unusable), RUNTIME_BUSY, VALIDATION_ERROR, CLOSED, or INTERNAL. No message contains a path.
 */
export interface BlobStore {
  /**
   * Stores the content atomically. Bytes must not change until the promise settles; a stream may reuse the memory of a chunk once the
   * next one is requested. Errors of the stream, and the reason of `signal`, checked between chunks, are rethrown unchanged.
   */
  put(
    owner: string,
    kind: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options?: { readonly signal?: AbortSignal },
  ): Promise<StoredBlob>;
  stat(owner: string, id: string): Promise<StoredBlob>;
  /**
   * Streams a range. The digest of the blob is verified first; a damaged blob throws INTERNAL. Nothing is opened before the first chunk is
   * requested. After that, the range can be read to its end even if the blob is removed.
   */
  read(owner: string, id: string, range?: BlobRange): AsyncIterable<Uint8Array>;
  /** Protects a blob from sweeps until the returned function is called or this process exits. Its owner can still remove it. */
  hold(owner: string, id: string): Promise<ReleaseBlob>;
  /** Removes a blob immediately, even if it is held. */
  remove(owner: string, id: string): Promise<void>;
}

/** Releases a hold. Idempotent. */
export type ReleaseBlob = () => Promise<void>;

/** A blob of any owner, for maintenance. Times are milliseconds since 1970. */
export interface ListedBlob extends StoredBlob {
  readonly owner: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** The result of a sweep: removed blobs, and expired ones that remain because they are held. */
export interface Swept {
  readonly removed: number;
  readonly freedBytes: number;
  /** Number of expired blobs that were not removed because they are held. */
  readonly held: number;
}

/** Maintenance of a store, not for users of blobs. */
export interface BlobUpkeep {
  /** Lists blobs in no particular order. Blobs added or removed during the listing may be missing or included. */
  list(): AsyncIterable<ListedBlob>;
  /** Removes expired blobs that are not held, and leftovers of crashed processes. Expired blobs can be read until then. */
  sweep(): Promise<Swept>;
  /** Releases every hold. Afterwards, every method throws CLOSED. */
  close(): Promise<void>;
}

/** A parsed kind. */
export interface BlobKind {
  /** `type/subtype[;params]`, without the `;base64` flag. */
  readonly kind: string;
  /** Whether it ended with `;base64`: the content is decoded before it is stored. */
  readonly base64: boolean;
}

/** Limits on blobs, each with a default. */
export type BlobOptions = { readonly [Limit in keyof typeof blobDefaults]?: number };

/** Used bytes and blobs. Identical content counts each time, so that a rejection reveals nothing about other owners. */
export interface BlobUsage {
  readonly bytes: number;
  readonly blobs: number;
}
