import { systemClock } from "../../../.build/base/clock.js";
import { openSourceCopies } from "../../../.build/sources/store.js";

/**
 * Opens the copies of one source, for a process of its own; what is logged goes to stderr.
 * @param {string} dataDirectory
 * @param {Parameters<typeof openSourceCopies>[1]} means
 */
export function openCopies(dataDirectory, means) {
  return openSourceCopies(
    {
      dataDirectory,
      sources: ["https://skills.example/acme"],
      allowPrivate: [],
      clock: systemClock,
      log: (_level, message) => void process.stderr.write(`${message}\n`),
    },
    means,
  );
}
