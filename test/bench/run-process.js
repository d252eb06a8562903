import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { parseJson } from "./parse-json.js";

/** @import { Readable } from "node:stream" */

const reportUsage = new URL("processes/report-usage.js", import.meta.url).href;

/**
 * @typedef {object} Finished
 * @property {number} milliseconds from spawn until the process has exited and its output is read
 * @property {number} peakBytes
 * @property {number} cpuMilliseconds of all its threads; hardly affected by other load
 * @property {number | null} exitCode null if a signal ended it
 */

/**
 * Runs a Node program until it exits. Reads its output through a pipe and passes it to `onOutput`.
 * @param {readonly string[]} args
 * @param {{ node?: string, cwd?: string, env?: NodeJS.ProcessEnv, onOutput?: (chunk: Buffer) => void }} options
 * @returns {Promise<Finished>}
 */
export async function runProcess(args, { node = process.execPath, cwd, env, onOutput = () => undefined } = {}) {
  const started = performance.now();
  const child = spawn(node, ["--import", reportUsage, ...args], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "ignore", "pipe"],
  });
  const [output, report] = /** @type {Readable[]} */ ([child.stdio[1], child.stdio[3]]);
  if (output === undefined || report === undefined) throw new Error("The process has no output.");
  output.on("data", onOutput);
  const told = text(report);
  /** @type {number | null} */
  const exitCode = await new Promise((resolve) => child.on("close", resolve));
  const milliseconds = performance.now() - started;
  const usage = /** @type {Pick<Finished, "peakBytes" | "cpuMilliseconds">} */ (parseJson(await told));
  return { milliseconds, ...usage, exitCode };
}

/** @param {readonly Finished[]} runs */
export function times(runs) {
  return runs.map(({ milliseconds }) => milliseconds);
}

/**
 * In megabytes.
 * @param {readonly Finished[]} runs
 */
export function peaks(runs) {
  return runs.map(({ peakBytes }) => peakBytes / 1024 / 1024);
}

/** @param {readonly Finished[]} runs */
export function cpuTimes(runs) {
  return runs.map(({ cpuMilliseconds }) => cpuMilliseconds);
}
