/** All limits on frames and calls between a run and its host. Printed output has its own. */
export const frameLimits = {
  /** Of one header from the run: a result of 4 MiB with some escapes. */
  headerBytes: 5 * 1024 * 1024,
  /** Of one header to the run. */
  sentBytes: 8 * 1024 * 1024,
  /** Nesting of a result, of the arguments of a call, of the details of an error. */
  depth: 200,
  /** Milliseconds of this process's time without yielding. */
  sliceMs: 3,
  /** Bytes of headers in a burst, and per second. Beyond them the host stops reading and the program blocks. */
  burstBytes: 16 * 1024 * 1024,
  bytesPerSecond: 4 * 1024 * 1024,
  /** The same for calls: of a brokered skill, or to create a blob. */
  burstCalls: 500,
  callsPerSecond: 200,
} as const;
