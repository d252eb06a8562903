import { existsSync } from "node:fs";
import path from "node:path";
import { knownAgents } from "../../acp/session/agents.ts";
import { idleGrants } from "../../runs/authorize/idle-grants.ts";
import { readOptions } from "../../options.ts";
import { openRunMeans } from "../../runs/run-means.ts";
import { findCommand } from "../../sandbox/find/find-command.ts";
import { findPython } from "../../sandbox/find/find-python.ts";
import { findCgroups } from "../../sandbox/processes/cgroups.ts";
import { defaultRunLimits, maxTimeoutMs } from "../../runs/plan/run-limits.ts";
import { version } from "../../base/version.ts";
import { cwd, json, roots, running } from "../arguments/shared-options.ts";
import { defineCommand } from "../command.ts";
import { jsonText } from "../report/json-text.ts";
import { openListing } from "../open-listing.ts";
import { openProcessLog } from "../open-log.ts";
import { toRunningOptions } from "../arguments/running-options.ts";
import { safeText } from "../report/safe-text.ts";
import type { Terminal } from "../report/terminal.ts";

/** Agents that speak ACP, by the command that starts them. */
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
      const [{ catalog, roots: searched }, tiers, python] = await Promise.all([
        openListing(given, terminal),
        means.report(),
        findPython(),
      ]);
      const report = {
        version,
        node: { version: process.versions.node, executable: process.execPath },
        python: "reason" in python ? python : { version: python.version, executable: python.executable },
        isolation: tiers.find(({ usable }) => usable)?.tier ?? null,
        tiers,
        limits: toLimits(means.concurrency),
        cgroup: toCgroup(),
        data_directory: settings.dataDirectory,
        roots: searched.map((root) => ({ path: root.path, exists: existsSync(root.path) })),
        skills: catalog.snapshot.skills.length,
        grants: settings.grants.map((grant) => idleGrants([grant], catalog)[0] ?? { grant }),
        agents: agents.flatMap((name) => {
          const command = findCommand(name);
          return command === undefined ? [] : [{ name, path: command }];
        }),
      };
      await terminal.print(given.json === true ? [jsonText(report, 2), "\n"] : describeReport(report, terminal));
      return report.isolation === null ? 1 : 0;
    } finally {
      await means.close();
    }
  },
});

function toLimits(concurrency: number) {
  return {
    timeout_ms: defaultRunLimits.timeoutMs,
    max_timeout_ms: maxTimeoutMs,
    memory_mb: defaultRunLimits.memoryBytes / mebibyte,
    processes: defaultRunLimits.processes,
    disk_mb: defaultRunLimits.diskBytes / mebibyte,
    concurrent_runs: concurrency,
  };
}

/** What holds where there is none: see `kernel_memory.py`. */
const withoutCgroup =
  "Rulesets, watches and large pipes are refused, mappings, locks and sockets counted; other kernel memory, such as that of pipes, is bounded by the number of descriptors only.";

type CgroupReport =
  | { readonly usable: true; readonly parent: string }
  | { readonly usable: false; readonly reason: string; readonly consequence: string };

function toCgroup(): CgroupReport {
  const found = findCgroups();
  return "parent" in found
    ? { usable: true, parent: found.parent }
    : { usable: false, reason: found.reason, consequence: withoutCgroup };
}

interface Report {
  readonly node: { readonly version: string; readonly executable: string };
  readonly python: { readonly reason: string } | { readonly version: string; readonly executable: string };
  readonly isolation: string | null;
  readonly tiers: readonly {
    readonly tier: string;
    readonly usable: boolean;
    readonly reason?: string;
    readonly fix?: readonly string[];
  }[];
  readonly limits: ReturnType<typeof toLimits>;
  readonly cgroup: CgroupReport;
  readonly data_directory: string;
  readonly roots: readonly { readonly path: string; readonly exists: boolean }[];
  readonly skills: number;
  readonly grants: readonly { readonly grant: string; readonly reason?: string }[];
  readonly agents: readonly { readonly name: string; readonly path: string }[];
}

const labelWidth = 14;

function* describeReport(report: Report, { paint, home }: Pick<Terminal, "paint" | "home">): Iterable<string> {
  const line = (label: string, text: string): string => `${paint("dim", label.padEnd(labelWidth))}${safeText(text)}\n`;
  const { node, python, isolation, tiers, limits, roots, skills } = report;
  yield line("acp-skills", version);
  yield line("node", `${node.version}  ${node.executable}`);
  yield line("python", "reason" in python ? python.reason : `${python.version}  ${python.executable}`);
  yield line("isolation", isolation ?? "none: nothing is executed");
  for (const { tier, usable, reason = "", fix = [] } of tiers) {
    yield line(`  ${tier}`, usable ? "works: tried from inside, and it held" : reason);
    for (const command of fix) yield line("", `fix: ${command}`);
  }
  yield line(
    "a run",
    `${limits.timeout_ms} ms (at most ${limits.max_timeout_ms}), ${limits.memory_mb} MiB memory, ${limits.processes} processes, ${limits.disk_mb} MiB disk; ${limits.concurrent_runs} at a time`,
  );
  const { cgroup } = report;
  yield line("cgroup", cgroup.usable ? `one for each sandbox, below ${cgroup.parent}` : `none: ${cgroup.reason}`);
  if (!cgroup.usable) yield line("", cgroup.consequence);
  yield line("data", shown(report.data_directory, home));
  yield line("skills", String(skills));
  for (const root of roots) yield line("  root", `${shown(root.path, home)}${root.exists ? "" : "  (not there)"}`);
  for (const { grant, reason } of report.grants)
    yield line("grant", reason === undefined ? grant : `${grant}  (${reason})`);
  yield line("agents", report.agents.length === 0 ? "none of those known by name is on PATH" : "");
  for (const agent of report.agents) yield line(`  ${agent.name}`, shown(agent.path, home));
  yield line("  ask first", `${toList(askingAgents(true))}: the editor is asked before a tool runs code`);
  yield line("  do not", `${toList(askingAgents(false))}, as they come: see their settings`);
}

function askingAgents(asks: boolean): readonly string[] {
  return knownAgents.flatMap(({ label, asksBeforeCode }) => (asksBeforeCode === asks ? [label] : []));
}

function toList(names: readonly string[]): string {
  return names.join(", ");
}

function shown(file: string, home: string): string {
  return file === home || file.startsWith(home + path.sep) ? `~${file.slice(home.length)}` : file;
}
