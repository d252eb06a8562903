import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeCorpus } from "./corpus.js";
import { alternate, summarise, summariseRatio } from "./measure.js";
import { parseJson } from "./parse-json.js";
import { installPeer } from "./peer.js";
import { runProcess } from "./run-process.js";

/** @import { Bench } from "./main.js" */
/** @import { Row } from "./report.js" */
/** @import { Finished } from "./run-process.js" */

const floorProgram = fileURLToPath(new URL("processes/read-heads.js", import.meta.url));
const megabyte = 1024 * 1024;
const floorIs = "first 4 KiB of each file";

/**
 * Listing and validating, whole processes with their boot, their output read through a pipe.
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
  say(`${told.skills} of 10,000 skills are offered, ${told.problems} problems are told`);
  const ten = await alternate({ ours: listSmall, floor: () => runProcess([floorProgram, small.list]) }, 9);
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
    },
    {
      what: "peak memory of that",
      unit: "MB",
      ours: peaksOfTen,
      floor: { is: floorIs, value: summarise(peaks(ten.floor)) },
      target: "≤ 90 MB",
      holds: peaksOfTen.median <= 90,
    },
    await measureAgainstPeer(folder, small.root, listSmall),
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

/**
 * @param {string} folder
 * @param {string} root
 * @param {() => Promise<Finished>} ours
 * @returns {Promise<Row>}
 */
async function measureAgainstPeer(folder, root, ours) {
  const what = "list + validate 10,000 against a peer";
  const target = "≥ 10 × faster";
  const peer = await installPeer();
  if (typeof peer === "string") {
    return { what, unit: "ms", ours: summarise(times([await ours()])), target, note: peer };
  }
  const place = layOutForPeer(folder, root);
  const listPeer = () => runProcess([peer.program, "list", "--json"], { node: peer.node, ...place });
  const runs = await alternate({ ours, peer: listPeer }, 3);
  const ratio = summariseRatio(times(runs.peer), times(runs.ours));
  return {
    what,
    unit: "ms",
    ours: summarise(times(runs.ours)),
    peer: { is: `npm ${peer.version} list --json`, value: summarise(times(runs.peer)) },
    ratio,
    target,
    holds: ratio.median >= 10,
    note: `the peer's peak: ${summarise(peaks(runs.peer)).median.toFixed(0)} MB`,
  };
}

/** @param {readonly Finished[]} runs */
function times(runs) {
  return runs.map(({ milliseconds }) => milliseconds);
}

/** @param {readonly Finished[]} runs */
function peaks(runs) {
  return runs.map(({ peakBytes }) => peakBytes / megabyte);
}

/** @param {string[]} args */
async function countListed(args) {
  /** @type {Buffer[]} */
  const chunks = [];
  const { exitCode } = await runProcess(args, { onOutput: (chunk) => chunks.push(chunk) });
  if (exitCode !== 0) throw new Error(`acp-skills list ended with ${exitCode}.`);
  const listing = /** @type {{ skills: unknown[], problems: unknown[] }} */ (
    parseJson(Buffer.concat(chunks).toString())
  );
  return { skills: listing.skills.length, problems: listing.problems.length };
}

/**
 * A project as the peer expects it, and a home without agents.
 * @param {string} folder
 * @param {string} root
 */
function layOutForPeer(folder, root) {
  const cwd = join(folder, "peer-project");
  const home = join(folder, "peer-home");
  mkdirSync(join(cwd, ".agents"), { recursive: true });
  mkdirSync(home);
  symlinkSync(root, join(cwd, ".agents", "skills"));
  return { cwd, env: { PATH: process.env["PATH"], HOME: home, DISABLE_TELEMETRY: "1", DO_NOT_TRACK: "1" } };
}
