/** What a program may send its host, besides what it prints: all limits on frames and calls of a run, in one place. */
export const frameLimits = {
  /** Of one header: a result of 4 MiB, escaped a little. */
  headerBytes: 5 * 1024 * 1024,
  /** Of one header to inside. */
  sentBytes: 8 * 1024 * 1024,
  /** Levels of a result, of the arguments of a call, of the details of an error. */
  depth: 200,
  /** Of the time of this process, without a pause. */
  sliceMs: 3,
  /** Bytes of headers at once, and then for each second. What comes faster stays in the pipe, and the program waits. */
  burstBytes: 16 * 1024 * 1024,
  bytesPerSecond: 4 * 1024 * 1024,
  /** The same for calls: of a brokered skill, or to keep a blob. */
  burstCalls: 500,
  callsPerSecond: 200,
} as const;
