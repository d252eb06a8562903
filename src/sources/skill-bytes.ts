/** One file of a skill from elsewhere. `path` is relative with `/`, and passed the rules of `archive/check-path.ts`. */
export interface SkillFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly executable: boolean;
}

/** Limits on one skill from elsewhere. */
export const skillLimits = {
  files: 1_000,
  /** Of all its files, unpacked. */
  bytes: 50 * 1024 * 1024,
  /** Of an archive, packed. */
  packedBytes: 25 * 1024 * 1024,
  pathLength: 512,
} as const;
