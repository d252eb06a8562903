import { randomFillSync } from "node:crypto";
import { SkillsError } from "../errors.ts";

export interface BlobOptions {
  /** The largest blob, in bytes. Default 10 MiB. */
  readonly maxBlobBytes?: number;
  /** Bytes of all blobs together, equal contents counted each time. Default 1 GiB. */
  readonly quotaBytes?: number;
  /** How many blobs there may be: empty ones cost disk as well. Default 20,000. */
  readonly maxBlobs?: number;
  /** How long a blob stays after it was put, reading does not prolong it. Default 24 hours. */
  readonly ttlMs?: number;
  /** Milliseconds since 1970: ages are compared across processes and restarts. */
  readonly now?: () => number;
  /** Fills the array with unpredictable bytes; ids are made of them. */
  readonly random?: (bytes: Uint8Array) => void;
}

export const blobDefaults: Required<BlobOptions> = Object.freeze({
  maxBlobBytes: 10 * 1024 * 1024,
  quotaBytes: 1024 * 1024 * 1024,
  maxBlobs: 20_000,
  ttlMs: 24 * 60 * 60 * 1000,
  now: () => Date.now(),
  random: (bytes: Uint8Array) => {
    randomFillSync(bytes);
  },
});

/** The options with their defaults. Throws INVALID_OPTIONS for a limit that is not a whole number ≥ 0. */
export function withBlobDefaults(options: BlobOptions): Required<BlobOptions> {
  const settings: Required<BlobOptions> = {
    maxBlobBytes: options.maxBlobBytes ?? blobDefaults.maxBlobBytes,
    quotaBytes: options.quotaBytes ?? blobDefaults.quotaBytes,
    maxBlobs: options.maxBlobs ?? blobDefaults.maxBlobs,
    ttlMs: options.ttlMs ?? blobDefaults.ttlMs,
    now: options.now ?? blobDefaults.now,
    random: options.random ?? blobDefaults.random,
  };
  for (const limit of ["maxBlobBytes", "quotaBytes", "maxBlobs", "ttlMs"] as const) {
    if (!Number.isSafeInteger(settings[limit]) || settings[limit] < 0) {
      throw new SkillsError("INVALID_OPTIONS", `The blob option ${limit} must be a whole number, 0 or more.`, {
        facts: { option: limit, actual: settings[limit] },
      });
    }
  }
  return settings;
}
