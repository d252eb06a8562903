import { withBlobDefaults } from "../../blobs.ts";
import type { BlobOptions } from "../../blobs.ts";

/** The limits of the blob store, which the guide states for the model. */
export interface ToolLimits {
  readonly maxBlobBytes: number;
  readonly blobTtlMs: number;
  /** Limit for the blobs of one run. */
  readonly runBlobs: { readonly maxBytes: number; readonly maxBlobs: number };
}

/** The limits of a store that is opened with these options. */
export function toToolLimits(blobs: BlobOptions): ToolLimits {
  const { maxBlobBytes, ttlMs, runQuotaBytes, runMaxBlobs } = withBlobDefaults(blobs);
  return { maxBlobBytes, blobTtlMs: ttlMs, runBlobs: { maxBytes: runQuotaBytes, maxBlobs: runMaxBlobs } };
}

export const defaultToolLimits: ToolLimits = Object.freeze(toToolLimits({}));

/** CONTRACT C-3.1. */
export const defaultPageSize = 50;
export const maxPageSize = 200;
export const maxRowTags = 20;
export const maxQueryLength = 256;
/** CONTRACT C-3.2. */
export const maxListedVersions = 20;
export const maxListedFiles = 512;
/** CONTRACT C-3.3: bytes of a file in one reply, and the maximum size of a file. */
export const maxReplyBytes = 256 * 1024;
export const maxReadFileBytes = 16 * 1024 * 1024;
/** CONTRACT C-4.3. */
export const defaultPreviewBytes = 2000;
export const maxBlobPreviewBytes = 1024 * 1024;
