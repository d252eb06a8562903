import type { RunLimits } from "../../sandbox/sandbox.ts";
import type { Skill } from "../../skills/skill.ts";

const mebibyte = 1024 * 1024;

/** CONTRACT C-5.2. */
export const defaultTimeoutMs = 30_000;
export const maxTimeoutMs = 600_000;
/** CONTRACT C-5.1. */
export const maxOutputBytes = 4096;
export const maxPreviewBytes = 2048;
export const maxLogBytes = mebibyte;
/** As many blob ids as a run may mount. */
export const maxToldBlobs = 64;
/** CONTRACT C-5.5. */
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

/** The limits of one run: those requested, capped by the maximum and by the skill's own. */
export function limitsOf(
  asked: { readonly timeoutMs?: number | undefined; readonly leftMs?: number | undefined },
  skill?: Skill,
): { readonly limits: RunLimits; readonly clamped: boolean } {
  const own = skill?.manifest?.limits;
  const wanted = asked.timeoutMs ?? defaultTimeoutMs;
  const timeoutMs = Math.min(wanted, maxTimeoutMs, own?.timeout_ms ?? Infinity, asked.leftMs ?? Infinity);
  const memoryBytes = Math.min(defaultRunLimits.memoryBytes, (own?.memory_mb ?? Infinity) * mebibyte);
  const limits = { ...defaultRunLimits, timeoutMs: Math.max(1, Math.floor(timeoutMs)), memoryBytes };
  return { limits, clamped: asked.timeoutMs !== undefined && limits.timeoutMs < asked.timeoutMs };
}
