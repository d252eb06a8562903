import { randomBytes } from "node:crypto";
import { SkillsError } from "../base/errors.ts";

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

/** Limits on blobs. */
export interface BlobOptions {
  /** Maximum size of a blob, in bytes. Default: 10 MiB. */
  readonly maxBlobBytes?: number;
  /** Maximum total bytes of all blobs; identical content counts each time. Default: 1 GiB. */
  readonly quotaBytes?: number;
  /** Maximum number of blobs, because empty ones use disk space, too. Default: 20,000. */
  readonly maxBlobs?: number;
  /** Maximum total bytes of one owner. Default: 256 MiB, a quarter of the store, so that one owner cannot fill it. */
  readonly ownerQuotaBytes?: number;
  /** Maximum number of blobs of one owner. Default: 5,000. */
  readonly ownerMaxBlobs?: number;
  /** Time to live of a blob after it was stored; reading does not extend it. Default: 24 hours. */
  readonly ttlMs?: number;
  /** Maximum total bytes of the blobs that one run creates, including the skills that it calls. Default: 128 MiB. */
  readonly runQuotaBytes?: number;
  /** Maximum number of blobs of such a run. Default: 512. */
  readonly runMaxBlobs?: number;
}

const mebibyte = 1024 * 1024;

const blobDefaults: Required<BlobOptions> = Object.freeze({
  maxBlobBytes: 10 * mebibyte,
  quotaBytes: 1024 * mebibyte,
  maxBlobs: 20_000,
  ownerQuotaBytes: 256 * mebibyte,
  ownerMaxBlobs: 5_000,
  ttlMs: 24 * 60 * 60 * 1000,
  runQuotaBytes: 128 * mebibyte,
  runMaxBlobs: 512,
});

/** The options with defaults. Throws INVALID_OPTIONS for a limit that is not an integer ≥ 0. */
export function withBlobDefaults(options: BlobOptions): Required<BlobOptions> {
  const settings: Record<keyof BlobOptions, number> = { ...blobDefaults };
  for (const option of Object.keys(blobDefaults) as (keyof BlobOptions)[]) {
    const limit = options[option] ?? blobDefaults[option];
    settings[option] = limit;
    if (Number.isSafeInteger(limit) && limit >= 0) continue;
    throw new SkillsError("INVALID_OPTIONS", `The blob option ${option} must be a whole number, 0 or more.`, {
      facts: { option, actual: limit },
    });
  }
  return settings;
}

/** Used bytes and blobs. Identical content counts each time, so that a rejection reveals nothing about other owners. */
export interface BlobUsage {
  readonly bytes: number;
  readonly blobs: number;
}

/** The usage of a store, in total and by owner. An owner is any stable string. */
export interface CountedUsage {
  readonly total: BlobUsage;
  of(owner: string): BlobUsage;
  add(owner: string, bytes: number): void;
  remove(owner: string, bytes: number): void;
  /** The owners that have blobs, with their usage. */
  owners(): Iterable<readonly [owner: string, usage: BlobUsage]>;
}

const nothing: BlobUsage = { bytes: 0, blobs: 0 };

export function countUsage(start: Iterable<readonly [owner: string, usage: BlobUsage]> = []): CountedUsage {
  const owners = new Map(start);
  let total = [...owners.values()].reduce((sum, { bytes, blobs }) => plus(sum, bytes, blobs), nothing);
  const change = (owner: string, bytes: number, blobs: number): void => {
    const usage = plus(owners.get(owner) ?? nothing, bytes, blobs);
    if (usage.blobs > 0) owners.set(owner, usage);
    else owners.delete(owner);
    total = plus(total, bytes, blobs);
  };
  return {
    get total() {
      return total;
    },
    of: (owner) => owners.get(owner) ?? nothing,
    add: (owner, bytes) => {
      change(owner, bytes, 1);
    },
    remove: (owner, bytes) => {
      change(owner, -bytes, -1);
    },
    owners: () => owners,
  };
}

function plus(usage: BlobUsage, bytes: number, blobs: number): BlobUsage {
  return { bytes: Math.max(0, usage.bytes + bytes), blobs: Math.max(0, usage.blobs + blobs) };
}

/**
 * The error if one more blob would exceed a limit; else undefined. The owner's limit is checked first, because the caller can free
 * that.
 */
export function quotaRefusal(
  usage: Pick<CountedUsage, "total" | "of">,
  owner: string,
  bytes: number,
  { quotaBytes, maxBlobs, ownerQuotaBytes, ownerMaxBlobs }: Required<BlobOptions>,
): SkillsError | undefined {
  if (isBeyond(usage.of(owner), bytes, ownerQuotaBytes, ownerMaxBlobs)) {
    return quotaExceeded("owner", { maxBytes: ownerQuotaBytes, maxBlobs: ownerMaxBlobs });
  }
  if (isBeyond(usage.total, bytes, quotaBytes, maxBlobs)) {
    return quotaExceeded("store", { maxBytes: quotaBytes, maxBlobs });
  }
  return undefined;
}

const refusals = {
  store: {
    of: "All blobs together",
    hint: "Old ones expire: try again later, or store less. A person can remove some: acp-skills blobs rm ID.",
    options: "quotaBytes, maxBlobs",
  },
  owner: {
    of: "The blobs of one owner (a session, or the person at the command line)",
    hint: "Old ones expire: store less, or put several contents into one blob. A person can remove some: acp-skills blobs rm ID.",
    options: "ownerQuotaBytes, ownerMaxBlobs",
  },
  run: {
    of: "The blobs that one run makes",
    hint: "Put several contents into one blob, or make the rest in another run.",
    options: "runQuotaBytes, runMaxBlobs",
  },
} as const;

/** The error for an exceeded limit: which one, its value, and what to do. */
export function quotaExceeded(
  limit: keyof typeof refusals,
  { maxBytes, maxBlobs }: { readonly maxBytes: number; readonly maxBlobs: number },
): SkillsError {
  const { of, hint, options } = refusals[limit];
  const message = `${of} may be ${maxBlobs} with ${maxBytes} bytes (${options}), and this one would be more.`;
  return new SkillsError("QUOTA_EXCEEDED", message, { facts: { limit, maxBytes, maxBlobs, hint } });
}

function isBeyond(usage: BlobUsage, bytes: number, maxBytes: number, maxBlobs: number): boolean {
  return usage.bytes + bytes > maxBytes || usage.blobs >= maxBlobs;
}
