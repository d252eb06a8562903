import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { alternate, summarise, summariseRatio } from "./measure.js";
import { installPeer } from "./peer.js";
import { peaks, runProcess, times } from "./run-process.js";

/** @import { Row } from "./report.js" */

/**
 * Both programs list the same 10,000 skills of the same project with the same home, each with its own defaults.
 * @param {string} folder
 * @param {string} root
 * @param {string} bin
 * @returns {Promise<Row[]>}
 */
export async function measureAgainstPeer(folder, root, bin) {
  const what = "list 10,000 of a project, against a peer";
  const target = "≥ 10 × faster";
  const peer = await installPeer();
  const rows = [];
  for (const { layout, place } of [layOutBare(folder, root), layOutInstalled(folder, root)]) {
    const ours = () => runProcess([bin, "list", "--json"], place);
    if (typeof peer === "string") {
      rows.push({ what: `${what}, ${layout}`, unit: "ms", ours: summarise(times([await ours()])), target, note: peer });
      continue;
    }
    const listPeer = () => runProcess([peer.program, "list", "--json"], { node: peer.node, ...place });
    const runs = await alternate({ ours, peer: listPeer }, 3);
    const ratio = summariseRatio(times(runs.peer), times(runs.ours));
    rows.push({
      what: `${what}, ${layout}`,
      unit: "ms",
      ours: summarise(times(runs.ours)),
      peer: { is: `npm ${peer.version} list --json`, value: summarise(times(runs.peer)) },
      ratio,
      target,
      holds: ratio.median >= 10,
      note: `peaks: ours ${megabytes(runs.ours)}, the peer's ${megabytes(runs.peer)}`,
    });
  }
  return rows;
}

/** @param {Parameters<typeof peaks>[0]} runs */
function megabytes(runs) {
  return `${summarise(peaks(runs)).median.toFixed(0)} MB`;
}

/**
 * Skills in `.agents/skills` and no agent installed.
 * @param {string} folder
 * @param {string} root
 */
function layOutBare(folder, root) {
  const place = makeProject(folder, "bare");
  mkdirSync(join(place.cwd, ".agents"));
  symlinkSync(root, join(place.cwd, ".agents", "skills"));
  return { layout: "no agent installed", place };
}

/**
 * The layout in which the peer installs skills for one agent: in `.agents/skills`, with a link to each in `.claude/skills`.
 * @param {string} folder
 * @param {string} root
 */
function layOutInstalled(folder, root) {
  const place = makeProject(folder, "installed");
  mkdirSync(join(place.env.HOME, ".claude"));
  mkdirSync(join(place.cwd, ".agents"));
  symlinkSync(root, join(place.cwd, ".agents", "skills"));
  const links = join(place.cwd, ".claude", "skills");
  mkdirSync(links, { recursive: true });
  for (const name of readdirSync(root)) symlinkSync(join(root, name), join(links, name));
  return { layout: "linked for one agent", place };
}

/**
 * @param {string} folder
 * @param {string} name
 */
function makeProject(folder, name) {
  const cwd = join(folder, name, "project");
  const home = join(folder, name, "home");
  mkdirSync(cwd, { recursive: true });
  mkdirSync(home);
  return { cwd, env: { PATH: process.env["PATH"], HOME: home, DISABLE_TELEMETRY: "1", DO_NOT_TRACK: "1" } };
}
