import { alternate, percentile, summarise, summariseRatio } from "./measure.js";
import { spawnPython, spawnTrue } from "./spawn-times.js";

/** @import { OpenRuns } from "./open-runs.js" */
/** @import { Row } from "./report.js" */

const floor = "Node spawning /bin/true";
const peer = "Node spawning a bare python3 -I -S";
const batches = 12;
const batch = 20;

/**
 * Measures a minimal run with a prepared sandbox.
 * @param {OpenRuns} runs
 * @returns {Promise<Row[]>}
 */
export async function measureWarm(runs) {
  // Warm up, so that compiled code is measured.
  for (let call = 0; call < 2 * batch; call++) await runs.hello();
  /** @type {{ ours: number[], floor: number[], peer: number[] }[]} */
  const found = [];
  for (let round = 0; round < batches; round++) {
    const turn = async (/** @type {() => Promise<number>} */ measure) => {
      await runs.ready();
      return await measure();
    };
    const subjects = { floor: () => turn(spawnTrue), ours: () => turn(runs.hello), peer: () => turn(spawnPython) };
    found.push(await alternate(subjects, batch, { warmUp: false }));
  }
  return [0.5, 0.95].map((fraction) => {
    const of = (/** @type {"ours" | "floor" | "peer"} */ subject, at = fraction) =>
      found.map((times) => percentile(times[subject], at));
    const most = fraction === 0.5 ? 4 : 8;
    const ratio = summariseRatio(of("ours"), of("floor", 0.5));
    return {
      what: `run_code hello, prewarmed, whole call in process, p${100 * fraction} of ${batch}`,
      unit: "ms",
      ours: summarise(of("ours")),
      floor: { is: `${floor}, p50`, value: summarise(of("floor", 0.5)) },
      peer: { is: peer, value: summarise(of("peer")) },
      ratio,
      target: `≤ ${most} × floor`,
      holds: ratio.median <= most,
    };
  });
}

/**
 * The same without a prepared sandbox.
 * @param {OpenRuns} runs
 * @returns {Promise<Row[]>}
 */
export async function measureCold(runs) {
  const turn = (/** @type {() => Promise<number>} */ measure) => async () => {
    await runs.drain();
    return await measure();
  };
  const times = await alternate({ floor: turn(spawnTrue), ours: turn(runs.hello), peer: turn(spawnPython) }, 40);
  const ratio = summariseRatio(times.ours, times.floor);
  return [
    {
      what: "run_code hello, cold",
      unit: "ms",
      ours: summarise(times.ours),
      floor: { is: floor, value: summarise(times.floor) },
      peer: { is: peer, value: summarise(times.peer) },
      ratio,
      target: "≤ 25 × floor",
      holds: ratio.median <= 25,
    },
  ];
}
