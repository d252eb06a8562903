import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { childProcesses, processorTime, sharedMemory } from "./child-processes.js";
import { summarise } from "./measure.js";
import { drainedAfterMs, until } from "./open-runs.js";

/** @import { OpenRuns } from "./open-runs.js" */
/** @import { Row } from "./report.js" */

const megabyte = 1024 * 1024;
const watchedMs = 10_000;

/**
 * Measures the cost of prepared sandboxes that are not used.
 * @param {OpenRuns} runs
 * @returns {Promise<Row[]>}
 */
export async function measureIdlePool(runs) {
  await runs.ready();
  const pids = childProcesses();
  const memory = (sharedMemory(pids) ?? Number.NaN) / megabyte;
  const before = processorTime(pids);
  await pause(watchedMs);
  const used = (processorTime(pids) - before) / 1_000_000;
  // Just before the timeout, all of them still exist.
  runs.forward(drainedAfterMs - watchedMs - 5_000);
  await pause(200);
  const early = childProcesses().length;
  runs.forward(5_000);
  await until(() => childProcesses().length === 0).catch(() => undefined);
  const late = childProcesses().length;
  const bare = (await memoryOfPythons()) / megabyte;
  return [
    {
      what: "idle pool of 2: memory, shared pages counted once",
      unit: "MB",
      ours: summarise([memory]),
      floor: { is: "2 idle bare python3 -I -S", value: summarise([bare]) },
      ratio: summarise([memory / bare]),
      target: "≤ 40 MB",
      ...(Number.isNaN(memory) ? { note: "needs root" } : { holds: memory <= 40 }),
    },
    {
      what: `idle pool of 2: CPU time in ${watchedMs / 1_000} s`,
      unit: "ms",
      ours: summarise([used]),
      target: "0",
      holds: used === 0,
    },
    {
      what: `idle pool of 2: processes ${drainedAfterMs / 1_000} s after the last run`,
      unit: "processes",
      ours: summarise([late]),
      target: "0",
      holds: late === 0 && early === pids.length,
      note: `a little earlier ${early}`,
    },
  ];
}

async function memoryOfPythons() {
  const waiting = "import sys; sys.stdout.write('x'); sys.stdout.flush(); sys.stdin.read()";
  const children = [1, 2].map(() =>
    spawn("/usr/bin/python3", ["-I", "-S", "-c", waiting], { stdio: ["pipe", "pipe", "ignore"] }),
  );
  await Promise.all(children.map((child) => new Promise((resolve) => child.stdout.once("data", resolve))));
  const bytes = sharedMemory(children.map(({ pid = 0 }) => pid)) ?? Number.NaN;
  await Promise.all(
    children.map((child) => {
      child.stdin.end();
      return new Promise((resolve) => child.once("exit", resolve));
    }),
  );
  return bytes;
}
