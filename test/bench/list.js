import { fileURLToPath } from "node:url";
import { writeCorpus } from "./corpus.js";
import { alternate, summarise, summariseRatio } from "./measure.js";
import { parseJson } from "./parse-json.js";
import { measureAgainstPeer } from "./list-peer.js";
import { cpuTimes, peaks, runProcess, times } from "./run-process.js";

/** @import { Bench } from "./main.js" */
/** @import { Row } from "./report.js" */

const floorProgram = fileURLToPath(new URL("processes/read-heads.js", import.meta.url));
const asyncFloorProgram = fileURLToPath(new URL("processes/read-heads-async.js", import.meta.url));
const floorIs = "first 4 KiB of each file";

/**
 * Measures listing and validating: whole processes including start-up, with their output read through a pipe.
 * @param {Bench} bench
 * @returns {Promise<Row[]>}
 */
export async function measureListing({ folder, samples, bin, say }) {
  const small = writeCorpus(folder, samples, 10_000);
  const large = writeCorpus(folder, samples, 60_000);
  const list = (/** @type {string} */ root) => [bin, "list", "--json", "--no-default-roots", "--skills", root];
  const listSmall = () => runProcess(list(small.root));
  const listLarge = () => runProcess(list(large.root));

  const told = await countListed(list(small.root));
  say(`${told.skills} of 10,000 skills are listed, with ${told.problems} problems`);
  const ten = await alternate(
    {
      ours: listSmall,
      floor: () => runProcess([floorProgram, small.list]),
      asyncFloor: () => runProcess([asyncFloorProgram, small.list]),
    },
    9,
  );
  const sixty = await alternate({ ours: listLarge, floor: () => runProcess([floorProgram, large.list]) }, 3);

  const toFloor = summariseRatio(times(ten.ours), times(ten.floor));
  const peaksOfTen = summarise(peaks(ten.ours));
  const growth = summarise(times(sixty.ours)).median / summarise(times(ten.ours)).median / 6;
  return [
    {
      what: "list + validate 10,000, whole process",
      unit: "ms",
      ours: summarise(times(ten.ours)),
      floor: { is: floorIs, value: summarise(times(ten.floor)) },
      ratio: toFloor,
      target: "≤ 3.5 × floor",
      holds: toFloor.median <= 3.5,
      note: `processor time ${summariseRatio(cpuTimes(ten.ours), cpuTimes(ten.floor)).median.toFixed(2)} × the floor's; wall time ${summariseRatio(times(ten.ours), times(ten.asyncFloor)).median.toFixed(2)} × the same reads done asynchronously`,
    },
    {
      what: "peak memory of that",
      unit: "MB",
      ours: peaksOfTen,
      floor: { is: floorIs, value: summarise(peaks(ten.floor)) },
      target: "≤ 90 MB",
      holds: peaksOfTen.median <= 90,
    },
    ...(await measureAgainstPeer(folder, small.root, bin)),
    {
      what: "list + validate 60,000, whole process",
      unit: "ms",
      ours: summarise(times(sixty.ours)),
      floor: { is: floorIs, value: summarise(times(sixty.floor)) },
      ratio: summariseRatio(times(sixty.ours), times(sixty.floor)),
      target: "linear: ≤ 1.1 × six times 10,000",
      holds: growth <= 1.1,
      note: `${growth.toFixed(2)} × six times 10,000; peak ${summarise(peaks(sixty.ours)).median.toFixed(0)} MB`,
    },
  ];
}

/** @param {string[]} args */
async function countListed(args) {
  /** @type {Buffer[]} */
  const chunks = [];
  const { exitCode } = await runProcess(args, { onOutput: (chunk) => chunks.push(chunk) });
  if (exitCode !== 0) throw new Error(`acp-skills list exited with ${exitCode}.`);
  const listing = /** @type {{ skills: unknown[], problems: unknown[] }} */ (
    parseJson(Buffer.concat(chunks).toString())
  );
  return { skills: listing.skills.length, problems: listing.problems.length };
}
