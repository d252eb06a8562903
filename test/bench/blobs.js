import { createHash, randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { alternate, summarise, summariseDifference, summariseRatio } from "./measure.js";
import { peaks, runProcess } from "./run-process.js";

/** @import { OpenTools } from "./open-tools.js" */
/** @import { Row } from "./report.js" */

const megabyte = 1024 * 1024;
const program = fileURLToPath(new URL("processes/streaming.js", import.meta.url));

/**
 * Measures storing one blob of 10 MiB, synced to disk.
 * @param {OpenTools} tools
 * @param {string} folder
 * @returns {Promise<Row[]>}
 */
export async function measureBlob(tools, folder) {
  const content = randomBytes(5 * megabyte).toString("hex");
  const file = join(folder, "floor.bin");
  const timed = (/** @type {() => unknown} */ work) => async () => {
    const started = performance.now();
    await work();
    return performance.now() - started;
  };
  const runs = await alternate(
    {
      ours: timed(() => tools.call("create_blob", { content, kind: "text/plain" })),
      floor: timed(() => writeAndHash(file, content)),
    },
    9,
  );
  rmSync(file);
  const ratio = summariseRatio(runs.ours, runs.floor);
  return [
    {
      what: "create_blob, 10 MiB on disk",
      unit: "ms",
      ours: summarise(runs.ours),
      floor: { is: "write, fsync and sha256 of the same text", value: summarise(runs.floor) },
      ratio,
      target: "≤ 2 × floor",
      holds: ratio.median <= 2,
    },
  ];
}

/**
 * @param {string} file
 * @param {string} content
 */
function writeAndHash(file, content) {
  const bytes = Buffer.from(content);
  const descriptor = openSync(file, "w");
  writeSync(descriptor, bytes);
  fsyncSync(descriptor);
  closeSync(descriptor);
  return createHash("sha256").update(bytes).digest("hex");
}

/**
 * The additional memory for a stream of 300 MiB compared with one of 100 MiB. Smaller streams do not reach the base size of a process.
 * @param {string} folder
 * @returns {Promise<Row>}
 */
export async function measureStreaming(folder) {
  const put = (/** @type {number} */ size) => () =>
    runProcess([program, join(folder, `streamed-${size}`), String(size * megabyte)]);
  const runs = await alternate({ large: put(300), small: put(100) }, 3, { warmUp: false });
  for (const { exitCode } of [...runs.large, ...runs.small])
    if (exitCode !== 0) throw new Error(`streaming.js exited with ${exitCode}.`);
  const added = summariseDifference(peaks(runs.large), peaks(runs.small));
  return {
    what: "peak memory of a process that streams 300 MiB into a blob and out again, over one that streams 100 MiB",
    unit: "MB",
    ours: added,
    target: "constant: ≤ 8 MB",
    holds: added.median <= 8,
    note: `with 100 MiB: ${summarise(peaks(runs.small)).median.toFixed(0)} MB`,
  };
}
