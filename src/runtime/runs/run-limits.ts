import type { RunLimits } from "../sandbox.ts";

const mebibyte = 1024 * 1024;

export const defaultTimeoutMs = 30_000;
export const maxTimeoutMs = 600_000;
/** Sizes in a result: its output as JSON, the preview of its log, the whole log. */
export const maxOutputBytes = 4096;
export const maxLogPreviewBytes = 2048;
export const maxLogBytes = mebibyte;
/** How many blob ids a result names. */
export const maxReportedBlobs = 64;
/** How many skills a run may call, and how deep. */
export const maxNestedRuns = 50;
export const maxNesting = 4;
/** How many blobs and skills a run may mount. */
export const maxInputBlobs = 64;
export const maxMountedSkills = 32;
export const maxMountedBytes = 256 * mebibyte;

/** Unless a request or the skill asks for less. */
export const defaultRunLimits: RunLimits = Object.freeze({
  timeoutMs: defaultTimeoutMs,
  memoryBytes: 512 * mebibyte,
  processes: 64,
  diskBytes: 128 * mebibyte,
  printedBytes: 64 * mebibyte,
  resultBytes: 4 * mebibyte,
  outputFiles: 256,
});
