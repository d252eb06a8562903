// Imported into a measured process: tells its peak memory in bytes and its processor time in milliseconds,
// on descriptor 3, when it ends.
import { readFileSync, writeSync } from "node:fs";

process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  writeSync(3, JSON.stringify({ peakBytes: peak(), cpuMilliseconds: (user + system) / 1000 }));
});

function peak() {
  const { maxRSS } = process.resourceUsage();
  if (process.platform !== "linux") return maxRSS * 1024;
  // Linux hands maxRSS down from the parent that forked; this counter starts anew with the program.
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "latin1")) ?? [];
  return (kilobytes === undefined ? maxRSS : Number(kilobytes)) * 1024;
}
