import { setTimeout as pause } from "node:timers/promises";
import { openApp } from "../../.build/runtime/app.js";
import { createCaller } from "../../.build/runtime/caller.js";
import { readOptions } from "../../.build/runtime/options.js";
import { childProcesses, processorTime } from "./child-processes.js";
import { quickClock } from "./quick-clock.js";

/**
 * Skills whose code runs under bubblewrap, opened with the public API.
 * @typedef {object} OpenRuns
 * @property {(tool: string, input: object) => Promise<unknown>} call
 * @property {() => Promise<number>} hello milliseconds; throws unless the run completed
 * @property {() => Promise<void>} ready fills the pool and waits until it is idle
 * @property {(milliseconds: number) => void} forward advances the clock
 * @property {() => Promise<void>} drain advances the clock until the pool is empty
 * @property {() => Promise<void>} close
 */

/** The processes of a full pool: two bubblewrap sandboxes with a supervisor and a program each. */
const waiting = 6;
export const drainedAfterMs = 60_000;

/**
 * @param {string} folder a temporary directory with skills in `skills`
 * @returns {Promise<OpenRuns>}
 */
export async function openRuns(folder) {
  const clock = quickClock();
  const settings = readOptions(
    {
      directories: [`${folder}/skills`],
      defaultRoots: false,
      dataDirectory: `${folder}/data`,
      isolation: "bubblewrap",
      log(/** @type {string} */ level, /** @type {string} */ message) {
        if (level !== "info") throw new Error(`told while measuring: ${message}`);
      },
    },
    { clock, home: folder },
  );
  const app = openApp(settings);
  await app.load();
  const caller = createCaller(app.openSession({ cwd: folder }), { transport: "in-process" });
  const call = (/** @type {string} */ tool, /** @type {object} */ input) => app.toolbox.call(tool, input, caller);
  const hello = async () => {
    const started = performance.now();
    const result = await call("run_code", { language: "python", code: "def main():\n    return 'hello'\n" });
    const milliseconds = performance.now() - started;
    expectCompleted(result);
    return milliseconds;
  };
  const ready = async () => {
    if (childProcesses().length === 0) await hello();
    let [used, quiet] = [Number.NaN, 0];
    await until(() => {
      const pids = childProcesses();
      const now = processorTime(pids);
      quiet = pids.length === waiting && now === used ? quiet + 1 : 0;
      used = now;
      return quiet === 3;
    });
  };
  const drain = async () => {
    // By then, the refill after a reply has started.
    await pause(50);
    if (childProcesses().length === 0) return;
    await ready();
    clock.forward(drainedAfterMs);
    await until(() => childProcesses().length === 0);
  };
  return {
    call,
    drain,
    forward: clock.forward,
    hello,
    ready,
    close: () => app.close(),
  };
}

/** @param {unknown} result */
export function expectCompleted(result) {
  if (/** @type {{ status?: string }} */ (result).status !== "completed") throw new Error(JSON.stringify(result));
}

/**
 * Polls, which hardly disturbs the measured processes.
 * @param {() => boolean} condition
 */
export async function until(condition) {
  for (let waited = 0; !condition(); waited++) {
    if (waited > 3_000) throw new Error("Timed out.");
    await pause(20);
  }
}
