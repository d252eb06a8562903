import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { writeCorpus } from "./corpus.js";
import { parseJson } from "./parse-json.js";
import { alternate, summarise, summariseDifference, summariseRatio } from "./measure.js";

/** @import { Bench } from "./main.js" */
/** @import { Row } from "./report.js" */

const program = fileURLToPath(new URL("processes/watching.js", import.meta.url));
const megabyte = 1024 * 1024;

/**
 * Measures the cost of watching a catalog of 10,000 skills compared with reading it once.
 * @param {Bench} bench
 * @returns {Promise<Row[]>}
 */
export async function measureWatching({ folder, samples }) {
  const { root } = writeCorpus(folder, samples, 10_000);
  const way = (/** @type {string} */ name) => () => openCatalogProcess(name, root);
  const runs = await alternate(
    { watched: way("watched"), listed: way("listed"), floor: way("floor"), nothing: way("nothing"), peer: way("peer") },
    { watched: 7, listed: 7, floor: 7, nothing: 7, peer: 1 },
    { warmUp: false },
  );
  const time = (/** @type {keyof typeof runs} */ name) => runs[name].map(({ milliseconds }) => milliseconds);
  const memory = (/** @type {keyof typeof runs} */ name) => runs[name].map(({ bytes }) => bytes / megabyte);
  const ready = summariseDifference(time("watched"), time("listed"));
  const added = summariseDifference(memory("watched"), memory("listed"));
  const floor = "fs.watch on each directory";
  return [
    {
      what: "watch 10,000: ready after listing",
      unit: "ms",
      ours: ready,
      floor: { is: floor, value: summarise(time("floor")) },
      peer: { is: "chokidar 5", value: summarise(time("peer")) },
      ratio: summariseRatio(
        time("watched").map((value, index) => value - (time("listed")[index] ?? 0)),
        time("floor"),
      ),
      target: "≤ 300 ms",
      holds: ready.median <= 300,
      note: `listing alone: ${summarise(time("listed")).median.toFixed(0)} ms in slices`,
    },
    {
      what: "watch 10,000: added memory",
      unit: "MB",
      ours: added,
      floor: { is: floor, value: summariseDifference(memory("floor"), memory("nothing")) },
      peer: { is: "chokidar 5", value: summariseDifference(memory("peer"), memory("nothing")) },
      target: "≤ 50 MB",
      holds: added.median <= 50,
      note: `listing alone: ${summariseDifference(memory("listed"), memory("nothing")).median.toFixed(0)} MB more than an empty Node process`,
    },
  ];
}

/**
 * @param {string} way
 * @param {string} root
 * @returns {Promise<{ milliseconds: number, bytes: number }>}
 */
async function openCatalogProcess(way, root) {
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", program, way, root]);
  return /** @type {{ milliseconds: number, bytes: number }} */ (parseJson(stdout));
}
