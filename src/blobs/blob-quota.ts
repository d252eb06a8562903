import { SkillsError } from "../errors.ts";

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

export const blobDefaults: Required<BlobOptions> = Object.freeze({
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
