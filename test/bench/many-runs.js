import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { childProcesses } from "./child-processes.js";
import { summarise } from "./measure.js";
import { until } from "./open-runs.js";
import { spawnTrue } from "./spawn-times.js";

/** @import { OpenRuns } from "./open-runs.js" */
/** @import { Row } from "./report.js" */

const total = 2_000;
const callers = 2;

/**
 * Measures consecutive runs by several callers, and what they leave behind.
 * @param {OpenRuns} runs
 * @returns {Promise<Row[]>}
 */
export async function measureMany(runs) {
  await runs.ready();
  const before = stateOfHost();
  const floor = await callMany(spawnTrue, total / 4);
  const ours = await callMany(runs.hello, total);
  await runs.ready();
  // The kernel releases resources of dead processes asynchronously.
  await until(() => sum(leftSince(before)) === 0).catch(() => undefined);
  const left = leftSince(before);
  const told = Object.entries(left).map(([what, count]) => `${what} ${count}`);
  return [
    {
      what: `run_code hello, ${callers} callers, sustained`,
      unit: "runs/s",
      ours: summarise([ours.perSecond]),
      floor: { is: "Node spawning /bin/true in the same way", value: summarise([floor.perSecond]) },
      ratio: summarise([ours.perSecond / floor.perSecond]),
      target: "≥ 40 runs/s on 2 cores",
      holds: ours.perSecond >= 40,
    },
    {
      what: `failed of ${total.toLocaleString("en")} runs`,
      unit: "runs",
      ours: summarise([ours.failed]),
      target: "0",
      holds: ours.failed === 0,
    },
    {
      what: "left behind by them",
      unit: "things",
      ours: summarise([sum(left)]),
      target: "0",
      holds: sum(left) === 0,
      note: told.join(", "),
    },
  ];
}

/**
 * @param {() => Promise<unknown>} act
 * @param {number} times
 */
async function callMany(act, times) {
  let [next, failed] = [0, 0];
  const started = performance.now();
  const caller = async () => {
    while (next++ < times) {
      try {
        await act();
      } catch {
        failed++; // Counted, and reported at the end.
      }
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { failed, perSecond: times / ((performance.now() - started) / 1_000) };
}

function stateOfHost() {
  return {
    processes: childProcesses().length,
    mounts: readFileSync("/proc/self/mountinfo", "utf8").split("\n").length,
    files: readdirSync(tmpdir(), { recursive: true }).length,
    descriptors: readdirSync("/proc/self/fd").length,
  };
}

/** @param {ReturnType<typeof stateOfHost>} before */
function leftSince(before) {
  const after = stateOfHost();
  return {
    processes: after.processes - before.processes,
    mounts: after.mounts - before.mounts,
    files: after.files - before.files,
    descriptors: after.descriptors - before.descriptors,
  };
}

/** @param {ReturnType<typeof leftSince>} left */
function sum(left) {
  return Object.values(left).reduce((total, count) => total + Math.abs(count), 0);
}
