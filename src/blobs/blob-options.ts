import { randomFillSync } from "node:crypto";
import { SkillsError } from "../errors.ts";

export interface BlobOptions {
  /** The largest blob, in bytes. Default 10 MiB. */
  readonly maxBlobBytes?: number;
  /** Bytes of all blobs together, equal contents counted each time. Default 1 GiB. */
  readonly quotaBytes?: number;
  /** How many blobs there may be: empty ones cost disk as well. Default 20,000. */
  readonly maxBlobs?: number;
  /** Bytes of the blobs of one owner. Default 256 MiB: a quarter of the store, so that nobody fills it for all. */
  readonly ownerQuotaBytes?: number;
  /** How many blobs one owner may have. Default 5,000. */
  readonly ownerMaxBlobs?: number;
  /** How long a blob stays after it was put, reading does not prolong it. Default 24 hours. */
  readonly ttlMs?: number;
  /** Milliseconds since 1970: ages are compared across processes and restarts. */
  readonly now?: () => number;
  /** Fills the array with unpredictable bytes; ids are made of them. */
  readonly random?: (bytes: Uint8Array) => void;
}

/** Limits on what one run makes, the skills that it calls included. */
export interface RunBlobOptions {
  /** Bytes of the blobs that it makes. Default 128 MiB. */
  readonly runQuotaBytes?: number;
  /** How many blobs it makes. Default 512. */
  readonly runMaxBlobs?: number;
}

const mebibyte = 1024 * 1024;

export const runBlobDefaults: Required<RunBlobOptions> = Object.freeze({
  runQuotaBytes: 128 * mebibyte,
  runMaxBlobs: 512,
});

export const blobDefaults: Required<BlobOptions> = Object.freeze({
  maxBlobBytes: 10 * mebibyte,
  quotaBytes: 1024 * mebibyte,
  maxBlobs: 20_000,
  ownerQuotaBytes: 256 * mebibyte,
  ownerMaxBlobs: 5_000,
  ttlMs: 24 * 60 * 60 * 1000,
  now: () => Date.now(),
  random: (bytes: Uint8Array) => {
    randomFillSync(bytes);
  },
});

const limits = ["maxBlobBytes", "quotaBytes", "maxBlobs", "ownerQuotaBytes", "ownerMaxBlobs", "ttlMs"] as const;

/** The options with their defaults. Throws INVALID_OPTIONS for a limit that is not a whole number ≥ 0. */
export function withBlobDefaults(options: BlobOptions): Required<BlobOptions> {
  const settings: Required<BlobOptions> = {
    maxBlobBytes: options.maxBlobBytes ?? blobDefaults.maxBlobBytes,
    quotaBytes: options.quotaBytes ?? blobDefaults.quotaBytes,
    maxBlobs: options.maxBlobs ?? blobDefaults.maxBlobs,
    ownerQuotaBytes: options.ownerQuotaBytes ?? blobDefaults.ownerQuotaBytes,
    ownerMaxBlobs: options.ownerMaxBlobs ?? blobDefaults.ownerMaxBlobs,
    ttlMs: options.ttlMs ?? blobDefaults.ttlMs,
    now: options.now ?? blobDefaults.now,
    random: options.random ?? blobDefaults.random,
  };
  for (const limit of limits) {
    if (!Number.isSafeInteger(settings[limit]) || settings[limit] < 0) {
      throw new SkillsError("INVALID_OPTIONS", `The blob option ${limit} must be a whole number, 0 or more.`, {
        facts: { option: limit, actual: settings[limit] },
      });
    }
  }
  return settings;
}
