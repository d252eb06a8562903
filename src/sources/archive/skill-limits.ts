/** The limits of one remote skill. */
export const skillLimits = {
  files: 1_000,
  /** The maximum size of all files of a skill, unpacked. */
  bytes: 50 * 1024 * 1024,
  /** The maximum size of an archive, packed. */
  packedBytes: 25 * 1024 * 1024,
  pathLength: 512,
} as const;
