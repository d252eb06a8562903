import { readdirSync, readFileSync } from "node:fs";

/** Ids of all descendants of this process. */
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
 * The total CPU time of these processes in nanoseconds.
 * @param {readonly number[]} pids
 */
export function processorTime(pids) {
  return pids.reduce((sum, pid) => sum + Number(text(`/proc/${pid}/schedstat`).split(" ")[0]), 0);
}

/**
 * The memory of these processes in bytes, shared pages counted once; undefined without permission to read it.
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
