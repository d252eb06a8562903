import { closeSync, constants, fstatSync, mkdirSync, openSync, readdirSync, readFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { join } from "node:path";
import { diskApprovals } from "../../.build/runtime/trust/approvals/disk-approvals.js";
import { allows } from "../../.build/runtime/trust/grants.js";
import { grantOf } from "../runtime/trust/approvals/grants.js";
import { measureApprovedRuns } from "./approved-runs.js";
import { alternate, summarise, summariseRatio } from "./measure.js";

/** @import { Bench } from "./main.js" */
/** @import { Row } from "./report.js" */

const grants = 1_000;
const repeats = 100;
const project = { project: "/home/ada/project" };

/**
 * Measures the approvals on disk: the check of a grant among 1,000 when nothing changed, the first one, and storing one.
 * @param {Bench} bench
 * @returns {Promise<Row[]>}
 */
export async function measureApprovals({ folder }) {
  const directory = join(folder, "trust");
  // Later, so that no file counts as one that was just written.
  const openStore = () => diskApprovals(directory, { log: () => undefined, now: () => Date.now() + 60_000 });
  const store = openStore();
  await store.change(project, (before) => ({
    ...before,
    grants: Array.from({ length: grants }, (_, n) => grantOf(n)),
  }));
  const [only = ""] = readdirSync(join(directory, "projects"));
  const file = join(directory, "projects", only);
  const text = readFileSync(file, "utf8");
  mkdirSync(join(folder, "floor"));

  const { skill: name, digest, capabilities: wants } = grantOf(grants - 1);
  const access = { skill: { name, digest }, wants };
  const check = async (/** @type {import("../../.build/runtime/trust/approvals.js").ApprovalStore} */ from) => {
    if (!(await from.read(project)).grants.some((grant) => allows(grant, access, 0))) throw new Error("No such grant.");
  };
  const times = await alternate(
    {
      check: () => timeOf(repeats, () => check(store)),
      look: () => timeOf(repeats, () => look(file)),
      first: () => timeOf(1, () => check(openStore())),
      parse: () => timeOf(1, () => void JSON.parse(readFileSync(file, "utf8"))),
      store: () => timeOf(1, () => store.change(project, (before) => ({ ...before, grants: [...before.grants] }))),
      write: () => timeOf(1, () => writeDurably(join(folder, "floor"), text)),
    },
    20,
  );
  const figure = (/** @type {keyof typeof times} */ ours, /** @type {keyof typeof times} */ floor) => ({
    unit: "ms",
    ours: summarise(times[ours]),
    ratio: summariseRatio(times[ours], times[floor]),
  });
  return [
    {
      what: "grant check, last of 1,000 grants, nothing changed",
      ...figure("check", "look"),
      floor: { is: "opening, fstat and closing the file", value: summarise(times.look) },
      target: "≤ 1 ms",
      holds: summarise(times.check).median <= 1,
    },
    {
      what: "the same, the first in a process",
      ...figure("first", "parse"),
      floor: { is: "reading and parsing the JSON", value: summarise(times.parse) },
    },
    {
      what: "storing an approval beside 1,000 others, durably",
      ...figure("store", "write"),
      floor: { is: "writing, syncing and renaming the same file", value: summarise(times.write) },
    },
    ...(await measureApprovedRuns(folder)),
  ];
}

/**
 * Milliseconds of one call.
 * @param {number} count
 * @param {() => Promise<unknown> | void} call
 */
async function timeOf(count, call) {
  const started = performance.now();
  for (let done = 0; done < count; done++) await call();
  return (performance.now() - started) / count;
}

/** @param {string} file */
function look(file) {
  const descriptor = openSync(file, constants.O_RDONLY);
  fstatSync(descriptor);
  closeSync(descriptor);
}

/**
 * @param {string} directory
 * @param {string} text
 */
async function writeDurably(directory, text) {
  const staged = join(directory, "staged");
  const handle = await open(staged, "w");
  await handle.writeFile(text);
  await handle.sync();
  await handle.close();
  await rename(staged, join(directory, "file"));
  const parent = await open(directory, constants.O_RDONLY);
  await parent.sync();
  await parent.close();
}
