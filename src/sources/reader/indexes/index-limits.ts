/** Limits on what a source lists. Above those on texts a text is cut; above the others the rest is left out and reported. */
export const indexLimits = {
  /** Of one document. */
  bytes: 8 * 1024 * 1024,
  /** Of all documents in memory while one source is read, and of all its descriptors. */
  documentBytes: 64 * 1024 * 1024,
  /** Of one descriptor. */
  descriptorBytes: 256 * 1024,
  /** Levels of arrays and objects in a descriptor. */
  descriptorDepth: 32,
  /** Skills of one source. */
  entries: 10_000,
  /** Skills of one source whose descriptors are read. */
  descriptors: 1_000,
  /** Documents of one catalog. */
  pages: 100,
  problems: 100,
  nameLength: 64,
  descriptionLength: 1_024,
  versionLength: 64,
  idLength: 256,
  urlLength: 2_048,
} as const;
