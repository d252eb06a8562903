import type { RunLimits } from "../sandbox.ts";

const mebibyte = 1024 * 1024;

export const defaultTimeoutMs = 30_000;
export const maxTimeoutMs = 600_000;
/** The maximum bytes of a result's output as JSON, of its log preview, and of the whole log. */
export const maxOutputBytes = 4096;
export const maxLogPreviewBytes = 2048;
export const maxLogBytes = mebibyte;
/** The maximum number of blob ids in a result. */
export const maxReportedBlobs = 64;
/** The maximum number of skills that a run may call, and the maximum depth of these calls. */
export const maxNestedRuns = 50;
export const maxNesting = 4;
/** The maximum number of blobs and of skills that a run may mount, and the maximum bytes of these skills. */
export const maxInputBlobs = 64;
export const maxMountedSkills = 32;
export const maxMountedBytes = 256 * mebibyte;

/** The limits of a run, unless its request or its skill sets lower ones. */
export const defaultRunLimits: RunLimits = Object.freeze({
  timeoutMs: defaultTimeoutMs,
  memoryBytes: 512 * mebibyte,
  processes: 64,
  diskBytes: 128 * mebibyte,
  printedBytes: 64 * mebibyte,
  resultBytes: 4 * mebibyte,
  outputFiles: 256,
});
