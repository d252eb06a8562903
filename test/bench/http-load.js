// Sends requests for a while, in a process of its own, and reports how many were answered and how.
import { pathToFileURL } from "node:url";
import autocannon from "autocannon";

/** The token of the caller of the server that is measured. */
export const benchToken = "bench-token-0123456789abcdefghijklmnopqrstu";

/**
 * @typedef {object} Load
 * @property {string} url
 * @property {number} seconds
 * @property {number} connections
 * @property {"GET" | "POST"} [method]
 * @property {Record<string, string>} [headers]
 * @property {string} [body]
 */

/**
 * @typedef {object} Answers
 * @property {number} answered
 * @property {number} failed without an answer
 * @property {number} p99Ms
 * @property {Record<string, number>} statuses
 */

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  process.on("message", (load) => {
    void send(/** @type {Load} */ (load)).then((answers) => process.send?.(answers));
  });
  process.send?.("ready");
}

/**
 * @param {Load} load
 * @returns {Promise<Answers>}
 */
async function send({ url, seconds, connections, method = "GET", headers = {}, body }) {
  const result = await autocannon({ url, duration: seconds, connections, method, headers, ...(body && { body }) });
  const statuses = Object.fromEntries(
    Object.entries(result.statusCodeStats ?? {}).map(([status, { count }]) => [status, count ?? 0]),
  );
  return {
    answered: Object.values(statuses).reduce((sum, count) => sum + count, 0),
    failed: result.errors + result.timeouts,
    p99Ms: result.latency.p99,
    statuses,
  };
}
