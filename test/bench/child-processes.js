import { readdirSync, readFileSync } from "node:fs";

/** Ids of the processes that this one started, and theirs. */
export function childProcesses() {
  /** @type {Map<number, number[]>} */
  const children = new Map();
  for (const pid of readdirSync("/proc").map(Number).filter(Number.isInteger)) {
    const parent = Number(/\) \S (\d+)/.exec(text(`/proc/${pid}/stat`))?.[1]);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found = [...(children.get(process.pid) ?? [])];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

/**
 * Nanoseconds that these have had a processor, all together.
 * @param {readonly number[]} pids
 */
export function processorTime(pids) {
  return pids.reduce((sum, pid) => sum + Number(text(`/proc/${pid}/schedstat`).split(" ")[0]), 0);
}

/**
 * Bytes that these hold, what they share counted once; undefined where somebody else may not ask.
 * @param {readonly number[]} pids
 */
export function sharedMemory(pids) {
  const kilobytes = pids.map((pid) => /^Pss:\s+(\d+)/m.exec(text(`/proc/${pid}/smaps_rollup`))?.[1]);
  return kilobytes.includes(undefined) ? undefined : kilobytes.reduce((sum, one) => sum + Number(one) * 1024, 0);
}

/** @param {string} file */
function text(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // It has ended meanwhile, or is not ours to read.
  }
}
