import { randomBytes } from "node:crypto";
import { SkillsError } from "../errors.ts";

/** The metadata of a blob. Immutable: an id refers to the same bytes as long as it exists (CONTRACT C-4.1). */
export interface StoredBlob {
  readonly id: string;
  /** In bytes. */
  readonly size: number;
  /** `type/subtype[;params]`, as given. */
  readonly kind: string;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

/** A part of a blob, in bytes. A range beyond the end is clamped without an error. */
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
   * Streams a range. The digest of the blob is verified first; a damaged blob throws INTERNAL. Nothing is opened before the
   * first chunk is requested; after that, the range can be read to its end even if the blob is removed.
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

export interface Swept {
  readonly removed: number;
  readonly freedBytes: number;
  /** Number of expired blobs that were kept because they are held. */
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

const idPattern = /^blob:[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const longestShown = 133;

/** Whether a text is a well-formed blob id (CONTRACT C-4.1). */
export function isBlobId(text: string): boolean {
  return idPattern.test(text);
}

/** A new id: 128 random bits in lower-case hexadecimal, so that case-insensitive disks keep ids apart. */
export function newBlobId(): string {
  return `blob:${randomBytes(16).toString("hex")}`;
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const quoted = String.raw`"(?:[ !#-\[\]-~]|\\[ -~])*"`;
const kindPattern = new RegExp(`^${token}/${token}(?: *; *${token}=(?:${token}|${quoted}))*$`);
const base64Suffix = / *; *base64$/i;
const longestKind = 127;

/** A parsed kind. */
export interface BlobKind {
  /** `type/subtype[;params]`, without the `;base64` flag. */
  readonly kind: string;
  /** Whether it ended with `;base64`: the content is decoded before it is stored (CONTRACT C-4.2). */
  readonly base64: boolean;
}

/** Parses a kind: an RFC 9110 media type in printable ASCII, at most 127 characters including the flag. Undefined if invalid. */
export function parseBlobKind(text: string): BlobKind | undefined {
  if (text.length > longestKind) return undefined;
  const kind = text.replace(base64Suffix, "");
  return kindPattern.test(kind) ? { kind, base64: kind.length < text.length } : undefined;
}

/** Throws VALIDATION_ERROR unless it is a kind without the `;base64` flag: a store receives decoded content. */
export function checkKind(kind: string): void {
  const parsed = parseBlobKind(kind);
  if (parsed === undefined || parsed.base64) {
    throw invalid("/kind", "type/subtype[;name=value], at most 127 characters", kind.slice(0, longestShown));
  }
}

/** The range with defaults, clamped to the blob. Throws VALIDATION_ERROR for anything but integers ≥ 0. */
export function withinBlob(range: BlobRange, size: number): { readonly start: number; readonly end: number } {
  const { offset = 0, length = size } = range;
  if (!Number.isSafeInteger(offset) || offset < 0) throw invalid("/offset", "an integer, 0 or more", offset);
  if (!Number.isSafeInteger(length) || length < 0) throw invalid("/length", "an integer, 0 or more", length);
  const start = Math.min(offset, size);
  return { start, end: Math.min(start + length, size) };
}

function invalid(field: string, expected: string, actual: unknown): SkillsError {
  return new SkillsError("VALIDATION_ERROR", `${field.slice(1)} must be ${expected}.`, {
    facts: { violations: [{ field, expected, actual }] },
  });
}

/** The same error for an unknown id, a malformed id, and the id of another owner's blob. */
export function blobNotFound(id: string): SkillsError {
  return new SkillsError("BLOB_NOT_FOUND", "Blob not found. Use the id exactly as it was returned.", {
    facts: { blobId: id.slice(0, longestShown) },
  });
}

export function blobTooLarge(limitBytes: number): SkillsError {
  return new SkillsError("BLOB_TOO_LARGE", `The blob is too large; the limit is ${limitBytes} bytes.`, {
    facts: { limitBytes },
  });
}

export function storeClosed(): SkillsError {
  return new SkillsError("CLOSED", "The blob store is closed.");
}
