/** Limits on one skill from elsewhere. */
export const skillLimits = {
  files: 1_000,
  /** For all its files, unpacked. */
  bytes: 50 * 1024 * 1024,
  /** For an archive, packed. */
  packedBytes: 25 * 1024 * 1024,
  pathLength: 512,
} as const;
