// Imported into a measured process: writes its peak memory in bytes and its CPU time in milliseconds
// to descriptor 3 when it exits.
import { readFileSync, writeSync } from "node:fs";

process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  writeSync(3, JSON.stringify({ peakBytes: peak(), cpuMilliseconds: (user + system) / 1000 }));
});

function peak() {
  const { maxRSS } = process.resourceUsage();
  if (process.platform !== "linux") return maxRSS * 1024;
  // On Linux, maxRSS is inherited from the parent; this counter is reset when the program starts.
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "latin1")) ?? [];
  return (kilobytes === undefined ? maxRSS : Number(kilobytes)) * 1024;
}
