import { existsSync } from "node:fs";
import { idleGrants } from "../../runs/authorize/idle-grants.ts";
import { readOptions } from "../../options.ts";
import { openRunMeans } from "../../runs/run-means.ts";
import { findCommand, findPython } from "../../sandbox/find/find-programs.ts";
import { findCgroups } from "../../sandbox/processes/cgroups.ts";
import { defaultRunLimits, maxTimeoutMs } from "../../runs/plan/run-limits.ts";
import { version } from "../../base/version.ts";
import { storageFault } from "../arguments/directory-fault.ts";
import { cwd, json, roots, running } from "../arguments/shared-options.ts";
import { defineCommand } from "../command.ts";
import { jsonText } from "../report/json-text.ts";
import { openListing } from "../open-listing.ts";
import { openProcessLog } from "../open-log.ts";
import { toRunningOptions } from "../arguments/running-options.ts";
import { describeDoctor } from "../report/describe-doctor.ts";
import type { DoctorReport } from "../report/describe-doctor.ts";

/** Commands of agents that speak ACP. */
const agents: readonly string[] = [
  "claude-agent-acp",
  "claude-code-acp",
  "codex-acp",
  "gemini",
  "goose",
  "opencode",
  "qwen",
  "kimi",
  "cursor-agent",
  "auggie",
];

const mebibyte = 1024 * 1024;

export const doctor = defineCommand({
  usage: "doctor [options]",
  options: { ...roots, ...running, cwd, json },
  notes: [
    "Runs a self-test of each way to isolate code, which takes a few seconds.",
    "Exits with 1 if no code can be run.",
  ],
  async run({ options: given }, terminal) {
    const runningOptions = toRunningOptions(given, () => terminal.cwd);
    const settings = readOptions({ log: openProcessLog(), ...runningOptions }, { home: terminal.home });
    const means = openRunMeans(settings);
    try {
      const { catalog, roots: searched } = await openListing(given, terminal);
      terminal.progress.show("running the self-tests of the sandboxes");
      const [tiers, python] = await Promise.all([means.report(), findPython()]);
      terminal.progress.done();
      const problem = storageFault(settings.dataDirectory);
      const report: DoctorReport = {
        version,
        node: { version: process.versions.node, executable: process.execPath },
        python: "reason" in python ? python : { version: python.version, executable: python.executable },
        isolation: tiers.find(({ usable }) => usable)?.tier ?? null,
        tiers,
        limits: toLimits(means.concurrency),
        cgroup: toCgroup(),
        data_directory: settings.dataDirectory,
        ...(problem !== undefined && { data_directory_problem: problem }),
        roots: searched.map((root) => ({ path: root.path, exists: existsSync(root.path) })),
        skills: catalog.snapshot.skills.length,
        grants: settings.grants.map((grant) => idleGrants([grant], catalog)[0] ?? { grant }),
        agents: agents.flatMap((name) => {
          const command = findCommand(name);
          return command === undefined ? [] : [{ name, path: command }];
        }),
      };
      await terminal.print(given.json === true ? [jsonText(report, 2), "\n"] : describeDoctor(report, terminal));
      return report.isolation === null ? 1 : 0;
    } finally {
      await means.close();
    }
  },
});

function toLimits(concurrency: number): DoctorReport["limits"] {
  return {
    timeout_ms: defaultRunLimits.timeoutMs,
    max_timeout_ms: maxTimeoutMs,
    memory_mb: defaultRunLimits.memoryBytes / mebibyte,
    processes: defaultRunLimits.processes,
    disk_mb: defaultRunLimits.diskBytes / mebibyte,
    concurrent_runs: concurrency,
  };
}

function toCgroup(): DoctorReport["cgroup"] {
  const found = findCgroups();
  return "parent" in found
    ? { usable: true, parent: found.parent }
    : { usable: false, reason: found.reason, consequence: withoutCgroup };
}

/** See `kernel_memory.py`. */
const withoutCgroup =
  "Without one, kernel memory is limited indirectly: rulesets, watches and large pipes are refused; mappings, locks and sockets are counted; the rest is limited by the number of file descriptors only.";
