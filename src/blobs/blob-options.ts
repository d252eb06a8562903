import { randomFillSync } from "node:crypto";
import { SkillsError } from "../errors.ts";

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
  /** The current time in milliseconds since 1970, because ages are compared across processes and restarts. */
  readonly now?: () => number;
  /** Fills the array with unpredictable bytes, for ids. */
  readonly random?: (bytes: Uint8Array) => void;
}

/** Limits on the blobs that one run creates, including the skills that it calls. */
export interface RunBlobOptions {
  /** Maximum total bytes. Default: 128 MiB. */
  readonly runQuotaBytes?: number;
  /** Maximum number of blobs. Default: 512. */
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

/** The options with defaults. Throws INVALID_OPTIONS for a limit that is not an integer ≥ 0. */
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
