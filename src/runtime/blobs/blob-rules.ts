import { randomBytes } from "node:crypto";
import { SkillsError } from "../../base/errors.ts";
import type { BlobKind, BlobOptions, BlobRange, BlobUsage } from "../blobs.ts";

/** Whether a text is a well-formed blob id. */
export function isBlobId(text: string): boolean {
  return idPattern.test(text);
}

/** A new id: 128 random bits in lower-case hexadecimal, so that case-insensitive disks keep ids apart. */
export function newBlobId(): string {
  return `blob:${randomBytes(16).toString("hex")}`;
}

/** Parses a kind: an RFC 9110 media type in printable ASCII, at most 127 characters including the flag. Undefined if invalid. */
export function parseBlobKind(text: string): BlobKind | undefined {
  if (text.length > maxKindLength) return undefined;
  const kind = text.replace(base64Suffix, "");
  return kindPattern.test(kind) ? { kind, base64: kind.length < text.length } : undefined;
}

/** Throws VALIDATION_ERROR unless it is a kind without the `;base64` flag: a store receives decoded content. */
export function checkKind(kind: string): void {
  const parsed = parseBlobKind(kind);
  if (parsed === undefined || parsed.base64) {
    throw invalid("/kind", "type/subtype[;name=value], at most 127 characters", kind.slice(0, maxShownLength));
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

/** One error for an unknown id, a malformed id, and the id of another owner's blob. */
export function blobNotFound(id: string): SkillsError {
  const facts = { blobId: id.slice(0, maxShownLength) };
  return new SkillsError("BLOB_NOT_FOUND", "Blob not found. Use the id exactly as it was returned.", { facts });
}

export function blobTooLarge(limitBytes: number): SkillsError {
  const facts = { limitBytes };
  return new SkillsError("BLOB_TOO_LARGE", `The blob is too large; the limit is ${limitBytes} bytes.`, { facts });
}

export function storeClosed(): SkillsError {
  return new SkillsError("CLOSED", "The blob store is closed.");
}

/** The options with defaults. Throws INVALID_OPTIONS for a limit that is not an integer ≥ 0. */
export function withBlobDefaults(options: BlobOptions): Required<BlobOptions> {
  const settings: Record<keyof BlobOptions, number> = { ...blobDefaults };
  for (const option of Object.keys(blobDefaults) as (keyof BlobOptions)[]) {
    const limit = (settings[option] = options[option] ?? blobDefaults[option]);
    if (Number.isSafeInteger(limit) && limit >= 0) continue;
    const facts = { option, actual: limit };
    throw new SkillsError("INVALID_OPTIONS", `The blob option ${option} must be a whole number, 0 or more.`, { facts });
  }
  return settings;
}

/** The usage of a store, in total and by owner. An owner is any stable string. */
export class CountedUsage {
  /** The owners that have blobs. */
  readonly owners: Map<string, BlobUsage>;
  #total: BlobUsage;

  constructor(start: Iterable<readonly [owner: string, usage: BlobUsage]> = []) {
    this.owners = new Map(start);
    this.#total = [...this.owners.values()].reduce((sum, { bytes, blobs }) => plus(sum, bytes, blobs), nothing);
  }

  get total(): BlobUsage {
    return this.#total;
  }

  of(owner: string): BlobUsage {
    return this.owners.get(owner) ?? nothing;
  }

  /** Counts `blobs` more, or fewer, and their bytes. */
  change(owner: string, bytes: number, blobs: 1 | -1): void {
    const usage = plus(this.of(owner), bytes, blobs);
    if (usage.blobs > 0) this.owners.set(owner, usage);
    else this.owners.delete(owner);
    this.#total = plus(this.#total, bytes, blobs);
  }
}

/**
 * The error if one more blob would exceed a limit; else undefined. The owner's limit is checked first, because the caller can remove blobs
 * of that owner.
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

/** The error for an exceeded limit: which one, its value, and what to do. */
export function quotaExceeded(
  limit: keyof typeof refusals,
  { maxBytes, maxBlobs }: { readonly maxBytes: number; readonly maxBlobs: number },
): SkillsError {
  const { of, hint, options } = refusals[limit];
  const message = `${of} may be ${maxBlobs} with ${maxBytes} bytes (${options}), and this one would be more.`;
  return new SkillsError("QUOTA_EXCEEDED", message, { facts: { limit, maxBytes, maxBlobs, hint } });
}

const idPattern = /^blob:[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

const maxShownLength = 133;

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";

const quoted = String.raw`"(?:[ !#-\[\]-~]|\\[ -~])*"`;

const kindPattern = new RegExp(`^${token}/${token}(?: *; *${token}=(?:${token}|${quoted}))*$`);

const base64Suffix = / *; *base64$/i;

const maxKindLength = 127;

function invalid(field: string, expected: string, actual: unknown): SkillsError {
  const facts = { violations: [{ field, expected, actual }] };
  return new SkillsError("VALIDATION_ERROR", `${field.slice(1)} must be ${expected}.`, { facts });
}

const mebibyte = 1024 * 1024;

export const blobDefaults = Object.freeze({
  /** Maximum size of a blob, in bytes. */
  maxBlobBytes: 10 * mebibyte,
  /** Maximum total bytes of all blobs; identical content counts each time. */
  quotaBytes: 1024 * mebibyte,
  /** Maximum number of blobs, because empty ones use disk space, too. */
  maxBlobs: 20_000,
  /** Maximum total bytes of one owner: a quarter of the store, so that one owner cannot fill it. */
  ownerQuotaBytes: 256 * mebibyte,
  /** Maximum number of blobs of one owner. */
  ownerMaxBlobs: 5_000,
  /** Maximum total bytes of the blobs that one run creates, including the skills that it calls. */
  runQuotaBytes: 128 * mebibyte,
  /** Maximum number of blobs of such a run. */
  runMaxBlobs: 512,
  /** Time to live of a blob after it was stored; reading does not extend it. */
  ttlMs: 24 * 60 * 60 * 1000,
});

const nothing: BlobUsage = { bytes: 0, blobs: 0 };

function plus(usage: BlobUsage, bytes: number, blobs: number): BlobUsage {
  return { bytes: Math.max(0, usage.bytes + bytes), blobs: Math.max(0, usage.blobs + blobs) };
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

function isBeyond(usage: BlobUsage, bytes: number, maxBytes: number, maxBlobs: number): boolean {
  return usage.bytes + bytes > maxBytes || usage.blobs >= maxBlobs;
}

/** The limits of the blob store, which the guide states for the model. */
export interface ToolLimits {
  readonly maxBlobBytes: number;
  readonly blobTtlMs: number;
  /** Maximum for the blobs of one run. */
  readonly runBlobs: { readonly maxBytes: number; readonly maxBlobs: number };
}

/** The limits of a store that is opened with these options. */
export function toToolLimits(blobs: BlobOptions): ToolLimits {
  const { maxBlobBytes, ttlMs, runQuotaBytes, runMaxBlobs } = withBlobDefaults(blobs);
  return { maxBlobBytes, blobTtlMs: ttlMs, runBlobs: { maxBytes: runQuotaBytes, maxBlobs: runMaxBlobs } };
}

export const defaultToolLimits: ToolLimits = Object.freeze(toToolLimits({}));
